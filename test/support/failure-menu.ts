import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

type Who = keyof typeof PEOPLE;
type World = Pick<TestWorld, 'slack' | 'as'>;

/** The message with this `ts`, as the person sees it. */
function findMessage({ slack }: World, who: Who, { channel, ts }: { channel: string; ts: string }) {
  const all = [...slack.messages(TEAM, channel), ...slack.ephemerals(TEAM, PEOPLE[who])];
  return all.find((message) => message.ts === ts);
}

/** Chooses what a menu of a message offers by the beginning of its value. */
export async function choose(
  world: World,
  option: string,
  { who = 'admin', channel = CHANNEL, ts = '' }: { who?: Who; channel?: string; ts?: string },
): ReturnType<ReturnType<World['as']>['click']> {
  for (const block of findMessage(world, who, { channel, ts })?.blocks ?? [])
    for (const element of [block.accessory ?? {}, ...((block.elements ?? []) as object[])] as Array<
      Record<string, unknown>
    >) {
      const options = (element.options ?? []) as Array<{ value: string }>;
      const match = element.type === 'overflow' && options.find(({ value }) => value.startsWith(option));
      if (!match) continue;
      const blockId = String(block.block_id);
      const use = { actionId: String(element.action_id), blockId, selected: match.value };
      return world.as(who).click({ channel, ts }, use);
    }
  throw new Error(`no menu offers ${option}`);
}

/** Gives a failure back, or closes it after its question, by the menu of its message or of a list. */
export async function leaveFailure(
  world: World,
  verb: 'release' | 'close',
  place: { who?: Who; channel?: string; ts?: string },
): Promise<void> {
  await choose(world, `episode:${verb} `, place);
  if (verb === 'release') return;
  const person = world.as(place.who ?? 'admin');
  await world.slack.until(() => person.openView()?.content.callback_id === 'episode.close', {
    what: 'the question',
  });
  await person.submit('episode.close', {});
}
