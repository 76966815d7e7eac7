import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import type { Side } from './sides.ts';
import type { Ask } from './traffic.ts';
import type { World } from './world.ts';

/** Everything that stands in a workspace at the end. */
export interface Seen {
  side: Side;
  roots: SeenMessage[];
  /** By channel and the root's ts. */
  threads: Map<string, SeenMessage[]>;
}

export function lookAt({ slack }: World, side: Side): Seen {
  const { team } = side;
  const roots = [...side.channels, side.billing, side.activity].flatMap((channel) =>
    slack.messages(team, channel),
  );
  const threads = new Map(
    roots.map(({ channel, ts }) => [threadKey(channel, ts), slack.thread(team, channel, ts)] as const),
  );
  return { side, roots, threads };
}

export function threadOf({ threads }: Seen, { channel, ts }: SeenMessage): SeenMessage[] {
  return threads.get(threadKey(channel, ts)) ?? [];
}

export function postsOf({ roots, threads }: Seen): SeenMessage[] {
  return [...roots, ...[...threads.values()].flat()];
}

/** What tells of an answer in the channel. */
const SAID: Record<Exclude<Ask['kind'], 'read'>, RegExp> = {
  use: /bound this channel/,
  digest: /set up the digest/,
  test: / shop \d+: /,
  again: / shop \d+: /,
};

/** Messages in the channel that answer it; they name the asker, who asked for nothing else. */
export function publicAnswers({ roots }: Seen, { kind, user, channel }: Ask): SeenMessage[] {
  if (kind === 'read') return [];
  return roots.filter(
    (message) =>
      message.channel === channel &&
      SAID[kind].test(message.text) &&
      JSON.stringify(message.blocks).includes(`<@${user}>`),
  );
}

/** The id of the digest that a message has buttons for. */
export function digestIn(blocks: unknown): string | undefined {
  return /\\"id\\":\\"(d\w+)/.exec(JSON.stringify(blocks) ?? '')?.[1];
}

const STILL = /Still working on it/;
const isOwnWord = ({ text, user }: SeenMessage): boolean => user !== 'USLACKBOT' && !STILL.test(text);

/** Final answers that only the asker sees, where they asked or as direct messages. */
export function privateAnswers({ slack }: World, { side, user }: Ask): SeenMessage[] {
  return [...slack.ephemerals(side.team, user), ...slack.dms(side.team, user)].filter(isOwnWord);
}

function threadKey(channel: string, ts: string): string {
  return `${channel} ${ts}`;
}
