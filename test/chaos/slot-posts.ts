import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { postId } from '../../src/slack/web.ts';
import { connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';

const CHANNELS = 10;

/** What became of the slots that fell due. */
export interface Verdict {
  /** Slots that fell due, over all digests. */
  due: number;
  /** What was to be posted and was not. */
  lost: string[];
  /** What stands more than once. */
  doubled: string[];
}

/** Connects the account and sets up the digests in so many channels, each due every minute if not said otherwise; gives their ids. */
export async function setUpDigests(
  slack: LocalSlack,
  digests: number,
  inChannels = CHANNELS,
  cron = '* * * * *',
): Promise<string[]> {
  const channels = Array.from({ length: CHANNELS }, (_, at) => `C0CHAOS${at}`);
  for (const id of channels) {
    slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
    slack.invite(TEAM, id, 'bot');
  }
  await connectAccount(slack);
  const ann = slack.as(TEAM, PEOPLE.admin);
  for (let at = 0; at < digests; at += 1)
    await ann.command(channels[at % inChannels] ?? '', `/deckhand digest add cron:"${cron}" UTC today`);
  const ids = (): string[] =>
    channels.flatMap((channel) =>
      slack.messages(TEAM, channel).flatMap(({ text }) => /set up the digest `(\w+)`/.exec(text)?.[1] ?? []),
    );
  await slack.until(() => ids().length === digests, { what: 'all digests to be set up' });
  return ids();
}

/** The names that Slack knows the messages by, with what they are. */
export function postsOf(ids: readonly string[], slots: readonly number[]): Map<string, string> {
  const names = slots.flatMap((slot) => ids.map((id) => `digest ${id} ${slot}`));
  return new Map(names.map((name) => [postId(TEAM, name), name]));
}

/** How often each name stands in the channels and their threads. */
export function countPosts(slack: LocalSlack): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at < CHANNELS; at += 1) {
    const roots = slack.messages(TEAM, `C0CHAOS${at}`);
    const replies = roots.flatMap(({ ts }) => slack.thread(TEAM, `C0CHAOS${at}`, ts));
    for (const { client_msg_id: id } of [...roots, ...replies])
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** @param uncertain the posts that Deckhand counted as possible duplicates, by their `client_msg_id` */
export function judge(
  slack: LocalSlack,
  expected: ReadonlyMap<string, string>,
  uncertain: readonly string[],
): Verdict {
  const counts = countPosts(slack);
  const lost = [...expected].filter(([id]) => !counts.has(id)).map(([, name]) => name);
  const twice = [...counts].filter(([, amount]) => amount > 1).map(([id]) => id);
  const doubled = twice.map((id) => (uncertain.includes(id) ? id : (expected.get(id) ?? id)));
  return { due: expected.size, lost, doubled };
}

/** Waits for the posts, but not for ever: what is missing then is lost, which is judged at the end. */
export async function untilPosted(
  slack: LocalSlack,
  expected: ReadonlyMap<string, string>,
  timeoutMs: number,
): Promise<void> {
  const isThere = (): boolean => {
    const counts = countPosts(slack);
    return [...expected.keys()].every((id) => counts.has(id));
  };
  await slack.until(isThere, { timeoutMs }).catch(() => undefined);
}
