import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

/** What only the asker reads after a command, text and blocks as one string. */
export async function ask(
  world: TestWorld,
  line: string,
  who: keyof typeof PEOPLE = 'member',
): Promise<string> {
  return answerTo(world, who, () => world.as(who).command(CHANNEL, line));
}

/** What only this person reads after an act of theirs. */
export async function answerTo(
  { slack }: TestWorld,
  who: keyof typeof PEOPLE,
  act: () => Promise<unknown>,
): Promise<string> {
  // The admin is told of the connected account too, at some moment.
  const seen = () => slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => !text.includes('Connected *'));
  const before = seen().length;
  await act();
  await slack.until(() => seen().length > before);
  const message = seen().at(-1);
  return `${message?.text} ${JSON.stringify(message?.blocks)}`;
}
