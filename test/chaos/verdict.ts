import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { postId } from '../../src/slack/web.ts';
import { TEAM } from '../support/test-world.ts';
import type { Strike } from './storm.ts';
import type { Ask, Happening } from './traffic.ts';
import { ACTIVITY, BILLING, CHANNELS, type World } from './world.ts';

/** Lists of sentences for a person; all but `explained` must be empty. */
export interface Verdict {
  lost: string[];
  doubled: string[];
  wrong: string[];
  /** Doubled where Deckhand counted a doubt, or lost where a process ended between an ack and a mere look. */
  explained: string[];
}

/** What must be visible in the end. */
export interface Expected {
  asks: readonly Ask[];
  happenings: readonly Happening[];
  strikes: readonly Strike[];
}

const MINUTE = 60_000;
/** A process that ends so soon after an ack may take a mere look with it, which nothing stores. */
const LOOK_WINDOW_MS = 40_000;
/** A run may be stopped by a fault of the service or of the store so long before or after it was asked for. */
const STOP_WINDOW_MS = MINUTE;
/** A connection may break so long after the store is back. */
const STORE_WINDOW_MS = 5_000;

/** Compares what Slack shows with what must be there. */
export function judge(world: World, expected: Expected): Verdict {
  const verdict: Verdict = { lost: [], doubled: [], wrong: [], explained: [] };
  const posts = readPosts(world);
  const uncertain = new Set([...world.diary.uncertain].flatMap((id) => [id, postId(TEAM, id)]));
  const court = { world, expected, verdict, posts, uncertain };
  for (const ask of expected.asks) if (ask.isAcked) judgeAsk(court, ask);
  judgeRepeats(court);
  judgeHappenings(court);
  judgeDigests(court);
  for (const { line, at } of world.diary.bugs)
    if (!wasStruck(court, /^store/, at - STORE_WINDOW_MS, at))
      verdict.wrong.push(`a bug was logged: ${line}`);
  return verdict;
}

interface Court {
  world: World;
  expected: Expected;
  verdict: Verdict;
  posts: SeenMessage[];
  /** Deliveries and posts that Deckhand counted as uncertain. */
  uncertain: Set<string>;
}

/** All roots and replies of the workspace. A reply that its channel shows too is one post. */
function readPosts({ slack }: World): SeenMessage[] {
  const roots = [...CHANNELS, ACTIVITY, BILLING].flatMap((channel) => slack.messages(TEAM, channel));
  const all = roots.flatMap((root) => [root, ...slack.thread(TEAM, root.channel, root.ts)]);
  return [...new Map(all.map((post) => [`${post.channel} ${post.ts}`, post])).values()];
}

/** Words of an answer in the channel. */
const ANSWERS = {
  use: /bound this channel/,
  test: /^(?:Shop \d+: |(?:Testing access to|The test of) Shop \d+)/,
  // Only the person sees these.
  digest: /(?!)/,
  read: /(?!)/,
} as const satisfies Record<Ask['kind'], RegExp>;

/** Each person has one answer. */
function judgeAsk(court: Court, ask: Ask): void {
  const { verdict, world, posts, uncertain } = court;
  const name = `the answer to ${ask.user} "${ask.line}" in ${ask.channel}`;
  const shown = posts.filter(
    ({ channel, text, blocks }) =>
      channel === ask.channel &&
      ANSWERS[ask.kind].test(text) &&
      JSON.stringify(blocks).includes(`<@${ask.user}>`),
  );
  const all = [...shown, ...readPrivateAnswers(world, ask)];
  // A test that joins a run is told so at once, and its outcome later.
  const outcomes = all.filter(({ text }) => !text.includes('The outcome will be posted here'));
  const answers = outcomes.length > 0 ? outcomes : all;
  if (answers.length === 0) {
    const isCut =
      ask.kind === 'read' && world.diary.ends.some((at) => at > ask.at && at < ask.at + LOOK_WINDOW_MS);
    (isCut ? verdict.explained : verdict.lost).push(name);
  }
  if (answers.length > 1) {
    const ids = shown.flatMap(({ client_msg_id: id }) => id ?? []);
    const isDoubted = [ask.request, `to ${ask.user}`, ...ids].some((id) => uncertain.has(id));
    if (isDoubted) for (const id of ids) uncertain.add(id);
    const texts = answers.map(({ text }) => text).join(' | ');
    (isDoubted ? verdict.explained : verdict.doubled).push(`${name}: ${texts}`);
  }
  for (const root of shown) judgeRun(court, ask, root);
}

function readPrivateAnswers({ slack }: World, { user }: Ask): Array<{ text: string }> {
  return [...slack.ephemerals(TEAM, user), ...slack.dms(TEAM, user)].filter(
    ({ text, user: author }) => author !== 'USLACKBOT' && !text.includes('Still working on it'),
  );
}

/** The headline, which begins with the project or with "The test of" it. */
function saysOutcome(text: string, { name, outcome }: { name: string; outcome: string }): boolean {
  const words = outcome.replace(/^the test /, '');
  return text.startsWith(words === outcome ? `${name}: ${words}.` : `The test of ${name} ${words}.`);
}

/** A run ends with its project's outcome; only a fault of the service or the store stops it. */
function judgeRun(court: Court, { project, user, at }: Ask, root: SeenMessage): void {
  const { uncertain, verdict } = court;
  if (project === undefined || saysOutcome(root.text, project)) return;
  const words = `the test of ${project.name} by ${user} ends as "${root.text}"`;
  const isStopped = root.text.startsWith(`The test of ${project.name} stopped`);
  if (isStopped && wasStruck(court, /^(?:service|store)/, at - STOP_WINDOW_MS, at + STOP_WINDOW_MS)) return;
  // Of a root that was posted twice, only one is edited.
  (uncertain.has(root.client_msg_id ?? '') ? verdict.explained : verdict.wrong).push(words);
}

function wasStruck({ expected }: Court, name: RegExp, from: number, to: number): boolean {
  return expected.strikes.some((one) => name.test(one.name) && one.from < to && one.to > from);
}

/** No post is there twice. */
function judgeRepeats({ posts, uncertain, verdict }: Court): void {
  for (const [id, same] of Map.groupBy(posts, ({ client_msg_id: id }) => id))
    if (id !== undefined && same.length > 1)
      (uncertain.has(id) ? verdict.explained : verdict.doubled).push(
        `${same.length} times: ${same[0]?.text}`,
      );
}

/** Each deployment and invoice is told once; a failure in the message of its project, perhaps until the next edit, and in one reply. */
function judgeHappenings({ expected, posts, verdict }: Court): void {
  const unique = [...new Map(posts.map((post) => [post.client_msg_id ?? post.ts, post])).values()];
  for (const { words, line, channel } of expected.happenings) {
    const telling = unique.filter((post) => post.channel === channel);
    const countOne = ({ blocks }: Pick<SeenMessage, 'blocks'>): number =>
      JSON.stringify(blocks).split(line).length - 1;
    const countIn = (isReply: boolean): number =>
      telling
        .filter(({ ts, thread_ts = ts }) => (thread_ts !== ts) === isReply)
        .reduce((sum, post) => sum + Math.max(...[post, ...post.edits].map(countOne)), 0);
    const times = Math.max(countIn(true), countIn(false));
    if (times === 0) verdict.lost.push(`${words} in ${channel}`);
    if (times > 1) verdict.doubled.push(`${words} in ${channel}`);
  }
}

/** Every digest was posted for each whole minute since it was set up. */
function judgeDigests({ posts, verdict, expected }: Court): void {
  const ids = new Set(posts.map(({ client_msg_id: id }) => id));
  const end = Math.max(...expected.strikes.map(({ to }) => to));
  for (const { text, ts, blocks } of posts) {
    const digest = /\\"id\\":\\"(d\w+)/.exec(JSON.stringify(blocks))?.[1];
    if (digest === undefined || !ANSWERS.digest.test(text)) continue;
    const first = Math.ceil((Number(ts) * 1_000 + MINUTE / 2) / MINUTE) * MINUTE;
    for (let minute = first; minute < end; minute += MINUTE)
      if (!ids.has(postId(TEAM, `digest ${digest} ${minute}`)))
        verdict.lost.push(`digest ${digest} of ${new Date(minute).toISOString()}`);
  }
}
