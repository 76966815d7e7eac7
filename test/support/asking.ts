import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

/** What only the asker reads after a command, text and blocks as one string. */
export async function ask(
  world: TestWorld,
  line: string,
  who: keyof typeof PEOPLE = 'member',
): Promise<string> {
  return answerTo(world, who, () => world.as(who).command(CHANNEL, line));
}

/** Types a command, and waits for the form that it opens. @returns who typed it */
export async function openForm(
  world: TestWorld,
  line: string,
  form = line,
  who: keyof typeof PEOPLE = 'admin',
) {
  const person = world.as(who);
  await person.command(CHANNEL, `/deckhand ${line}`);
  await world.slack.until(() => person.openView()?.content.callback_id === form, { what: 'the form' });
  return person;
}

/** What only this person reads after an act of theirs. */
export async function answerTo(
  { slack }: TestWorld,
  who: keyof typeof PEOPLE,
  act: () => Promise<unknown>,
): Promise<string> {
  const seen = () => slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => isAnswer(text));
  // The answer may take away the question that it answers.
  const before = new Set(seen().map(({ ts }) => ts));
  const answer = () => seen().findLast(({ ts }) => !before.has(ts));
  await act();
  await slack.until(() => answer() !== undefined, { what: 'an answer' });
  const message = answer();
  return `${message?.text} ${JSON.stringify(message?.blocks)}`;
}

/** The message of a channel about what is set up in it, which is edited. */
export function isCard({ blocks }: Pick<SeenMessage, 'blocks'>): boolean {
  return JSON.stringify(blocks).includes('"setup:open"');
}

/**
 * Types a command of the admin, and waits for its answer: what only they read, or a message of the channel that is no card.
 * @returns the answer
 */
export async function sayThere(
  { slack, as }: TestWorld,
  line: string,
  channel: string,
): Promise<SeenMessage> {
  const own = () => slack.ephemerals(TEAM, PEOPLE.admin).filter(({ text }) => isAnswer(text));
  const posted = () =>
    slack.messages(TEAM, channel).filter((one) => !isCard(one) && one.subtype !== 'thread_broadcast');
  const before = new Set([...own(), ...posted()].map(({ ts }) => ts));
  const isNew = ({ ts }: SeenMessage) => !before.has(ts);
  const answer = () => own().find(isNew) ?? posted().findLast(isNew);
  await as('admin').command(channel, `/deckhand ${line}`);
  await slack.until(() => answer() !== undefined, { what: `an answer to ${line}` });
  const message = answer();
  if (message === undefined) throw new Error('there is no answer');
  return message;
}

/** The admin is told of the connected account too, at some moment, and on a busy machine that the work goes on. */
function isAnswer(text: string): boolean {
  return !/^Connected .+ with /.test(text) && !text.includes('Still working on it');
}

/** A list of schedules as the admin alone reads it. */
export async function openList(world: TestWorld, line: string, channel = CHANNEL): Promise<SeenMessage> {
  await answerTo(world, 'admin', () => world.as('admin').command(channel, `/deckhand ${line}`));
  const list = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
  if (list === undefined) throw new Error('there is no list');
  return list;
}

/** The answer to `/deckhand beta enroll …` of the admin, who says yes to its question. */
export async function enroll(world: TestWorld, words = ''): Promise<string> {
  const { slack } = world;
  const question = await ask(world, `/deckhand beta enroll ${words}`, 'admin');
  if (!question.includes('"beta:enroll"')) return question;
  const ts = slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
  await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'beta:enroll' });
  const answer = () => slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
  await slack.until(() => !answer()?.text.startsWith('Enrol the account') && isAnswer(answer()?.text ?? ''));
  return `${answer()?.text} ${JSON.stringify(answer()?.blocks)}`;
}
