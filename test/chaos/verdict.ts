import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { postId } from '../../src/slack/web.ts';
import { PEOPLE } from '../support/test-world.ts';
import { digestIn, lookAt, postsOf, privateAnswers, publicAnswers, type Seen, threadOf } from './seen.ts';
import { type ChaosProject, SIDES, type Side } from './sides.ts';
import { STORE_TROUBLES, type Struck } from './storm.ts';
import { type Ask, type Happening, isRootOf } from './traffic.ts';
import type { World } from './world.ts';

/** What came of it all. Each list holds words for people. */
export interface Verdict {
  lost: string[];
  doubled: string[];
  wrong: string[];
  /** Lost or doubled where Deckhand itself counts a doubt, or where a process ended between an ack and a mere look. */
  explained: string[];
  counts: Record<string, number>;
}

/** What was to become visible. */
export interface Expected {
  asks: readonly Ask[];
  happenings: readonly Happening[];
  struck: readonly Struck[];
  /** Slots that were certainly due. */
  occurrences: readonly number[];
  /** When each digest was first seen, by the occurrences' clock. */
  digests: ReadonlyMap<string, number>;
}

/** A process that ended so soon after an ack may have taken a mere look with it, which nothing stores. */
const LOOK_WINDOW_MS = 40_000;
/** A test that began so soon before or after a trouble of the service may have been stopped by it. */
const STOP_WINDOW_MS = 60_000;
/** So long after the database is back a connection may still turn out to be broken. */
const STORE_WINDOW_MS = 5_000;

export function judge(world: World, expected: Expected): Verdict {
  const verdict: Verdict = { lost: [], doubled: [], wrong: [], explained: [], counts: {} };
  const court: Court = { world, expected, verdict, doubted: new Set() };
  for (const side of SIDES) {
    const seen = lookAt(world, side);
    for (const ask of expected.asks.filter((one) => one.side === side)) judgeAsk(court, seen, ask);
    judgePosts(court, seen);
    judgeHappenings(court, seen);
    judgeForeign(court, seen);
    judgeOwner(court, seen);
    judgeSlots(court, seen);
  }
  for (const { line, at } of world.diary.bugs)
    if (!wasStoreAway(expected, at)) verdict.wrong.push(`a bug was logged: ${line}`);
  for (const { how } of world.diary.endings)
    if (how === 'crashed') verdict.wrong.push('a process ended by itself');
  return verdict;
}

interface Court {
  world: World;
  expected: Expected;
  verdict: Verdict;
  /** By `client_msg_id`: answers to requests that Deckhand counted as possibly carried out twice. */
  doubted: Set<string>;
}

/** A test that joins the one of a failed deployment is told so first, and gets its outcome later. */
function withoutPointers<T extends { text: string }>(answers: T[]): T[] {
  const outcomes = answers.filter(({ text }) => !text.includes('Its outcome is posted here when it ends'));
  return outcomes.length > 0 ? outcomes : answers;
}

/** One answer to each thing that was typed. */
function judgeAsk(court: Court, seen: Seen, ask: Ask): void {
  const { verdict, world } = court;
  const name = `${ask.side.word} ${ask.user} "${ask.line}" in ${ask.channel}`;
  const said = privateAnswers(world, ask);
  const shown = publicAnswers(seen, ask);
  count(verdict, ask.kind === 'read' ? 'looks' : 'changes');
  if (!ask.isAcked) count(verdict, 'without an ack');
  // The second of two clicks may be told that the first one counts.
  const answered = ask.kind === 'again' && shown.length > 0 ? shown : [...shown, ...said];
  const answers = withoutPointers(answered);
  if (answers.length === 0 && ask.isAcked) {
    if (isCut(court, ask)) verdict.explained.push(`lost: ${name}, with its process`);
    else verdict.lost.push(`the answer to ${name}`);
  }
  if (answers.length > 1 && !(ask.kind === 'again' && shown.length === 0)) {
    const isDoubted = wasDoubted(court, ask, shown);
    addDouble(verdict, isDoubted, `the answer to ${name}: ${answers.map(({ text }) => text).join(' | ')}`);
  }
  for (const root of shown) if (ask.project !== undefined) judgeRun(court, seen, ask, root);
}

/** Whether its request, or an answer to it, may have been sent twice; such answers then may stand twice. */
function wasDoubted(court: Court, { requests, side, user }: Ask, shown: readonly SeenMessage[]): boolean {
  const posted = ids(shown);
  if (![...requests, ...posted, `to ${user}`].some((id) => isUncertain(court, side, id))) return false;
  for (const id of posted) court.doubted.add(id);
  return true;
}

function addDouble({ doubled, explained }: Verdict, isDoubted: boolean, words: string): void {
  if (isDoubted) explained.push(`doubled: ${words}`);
  else doubled.push(words);
}

function isCut({ world }: Court, { kind, at }: Ask): boolean {
  if (kind !== 'read') return false;
  return world.diary.endings.some((ending) => ending.at > at && ending.at < at + LOOK_WINDOW_MS);
}

/** The root's last state, and each piece of news once. */
function judgeRun(court: Court, seen: Seen, ask: Ask, root: SeenMessage): void {
  const { verdict } = court;
  const project = ask.side.projects.find(({ permalink }) => permalink === ask.project);
  if (project === undefined) return;
  count(verdict, 'runs');
  const name = `the test of ${project.name} by ${ask.user}`;
  const words = root.text.split(': ').slice(1).join(': ');
  if (words === 'stopped') {
    count(verdict, 'runs stopped with a reason');
    if (!wasTroubled(court, ask)) verdict.wrong.push(`${name} was stopped: ${JSON.stringify(root.blocks)}`);
    return;
  }
  if (words !== project.words || !isRootOf(root, project.name)) {
    // Of a root that may stand twice one is kept up to date, and none where Slack's last answer was lost too.
    if (!isUncertain(court, ask.side, root.client_msg_id))
      verdict.wrong.push(`${name} ends as "${root.text}"`);
    return;
  }
  judgeThread(court, seen, root, project, name);
}

function judgeThread(court: Court, seen: Seen, root: SeenMessage, project: ChaosProject, name: string): void {
  const { verdict, world } = court;
  const { side } = seen;
  const told = threadOf(seen, root);
  for (const [key, news] of project.news) {
    if (told.some(({ text }) => text === news)) continue;
    const isDoubted = world.diary.uncertain.has(postId(side.team, `${root.ts} ${key}`));
    if (isDoubted) verdict.explained.push(`lost: "${news}" of ${name}`);
    else
      verdict.lost.push(`"${news}" of ${name}, root ${root.ts}: ${told.map(({ text }) => text).join(' | ')}`);
  }
  const known = new Set(project.news.values());
  // The same reply twice is judged as any other post is.
  const progress = new Set(ids(told.filter(({ text }) => PROGRESS.test(text))));
  if (progress.size > 1) verdict.doubled.push(`the progress of ${name}`);
  for (const { text } of told)
    if (!known.has(text) && !PROGRESS.test(text)) verdict.wrong.push(`${name} tells "${text}"`);
}

/** The first reply at the end, or as it was posted by a process that could not edit it any more. */
const PROGRESS = / The test took |^:arrows_counterclockwise: Running since /;

function wasTroubled({ expected }: Court, { at }: Ask): boolean {
  return expected.struck.some(
    ({ name, from, to }) =>
      /service|full|Postgres/.test(name) && from < at + STOP_WINDOW_MS && to > at - STOP_WINDOW_MS,
  );
}

/** True where Deckhand counted a doubt of this delivery, post or request. */
function isUncertain({ world }: Court, { team }: Side, id: string | undefined): boolean {
  const names = [...world.diary.uncertain];
  return names.some((name) => id === name || id === postId(team, name));
}

/** No post stands twice; those that a process was in doubt of are told by their id. */
function judgePosts(court: Court, seen: Seen): void {
  const { verdict } = court;
  const groups = Map.groupBy(
    postsOf(seen).filter(({ client_msg_id: id }) => id !== undefined),
    ({ client_msg_id: id }) => id ?? '',
  );
  for (const [id, [first, ...others]] of groups) {
    count(verdict, 'posts');
    if (first === undefined || others.length === 0) continue;
    const isDoubted = court.doubted.has(id) || isUncertain(court, seen.side, id);
    addDouble(verdict, isDoubted, `${others.length + 1} times in ${first.channel}: ${first.text}`);
  }
}

/** Each deployment and invoice is told once; a further failure of an episode in its root and in one reply. */
function judgeHappenings({ expected, verdict }: Court, seen: Seen): void {
  const { side } = seen;
  const posts = postsOf(seen);
  const texts = new Map<string, string[]>();
  for (const channel of [side.activity, side.billing]) {
    const own = posts.filter((post) => post.channel === channel);
    const unique = new Map(own.map((post) => [post.client_msg_id ?? post.ts, textOf(post)]));
    texts.set(channel, [...unique.values()]);
  }
  for (const { words, channel } of expected.happenings.filter((one) => one.side === side)) {
    count(verdict, 'notices');
    const naming = (texts.get(channel) ?? []).filter((text) => text.includes(words));
    const timesIn = (texts: string[]): number =>
      texts.reduce((sum, text) => sum + text.split(words).length - 1, 0);
    const replies = naming.filter((text) => text.startsWith(REPLY));
    const times = Math.max(timesIn(replies), timesIn(naming.filter((text) => !text.startsWith(REPLY))));
    if (times === 0) verdict.lost.push(`${words} in ${side.word}'s ${channel}`);
    if (times > 1) verdict.doubled.push(`${words} in ${side.word}'s ${channel}: ${naming.join(' | ')}`);
  }
}

const REPLY = 'reply ';

function textOf({ thread_ts, ts, blocks }: Pick<SeenMessage, 'thread_ts' | 'ts' | 'blocks'>): string {
  return `${thread_ts === undefined || thread_ts === ts ? '' : REPLY}${JSON.stringify(blocks)}`;
}

/** Nothing of another workspace is to be seen, nor was it sent. */
function judgeForeign({ verdict, world }: Court, { side }: Seen): void {
  const sent = world.slack.calls
    .filter(({ team }) => team === side.team)
    .map(({ args }) => JSON.stringify(args));
  for (const other of SIDES.filter((one) => one !== side)) {
    const leaked = sent.find((text) => text.toLowerCase().includes(other.word));
    if (leaked !== undefined)
      verdict.wrong.push(`${side.word} was sent something of ${other.word}: ${leaked}`);
  }
}

/** Whoever set something up is only told of what can no longer be delivered, which is nothing here. */
function judgeOwner({ expected, verdict, world }: Court, { side }: Seen): void {
  const owners = expected.asks
    .filter((ask) => ask.side === side && ask.kind === 'digest')
    .map(({ user }) => user);
  for (const owner of [PEOPLE.admin, ...owners])
    for (const { text } of world.slack.dms(side.team, owner))
      if (/could not|paus/i.test(text)) verdict.wrong.push(`${owner} of ${side.word} was told: ${text}`);
}

/** Every digest was posted once for each occurrence that was certainly due. */
function judgeSlots({ expected, verdict }: Court, seen: Seen): void {
  const posted = new Set(postsOf(seen).map(({ client_msg_id: id }) => id));
  for (const [digest, since] of expected.digests) {
    if (!seen.roots.some(({ blocks }) => digestIn(blocks) === digest)) continue;
    for (const occurrence of expected.occurrences.filter((one) => one > since)) {
      count(verdict, 'occurrences');
      if (posted.has(postId(seen.side.team, `digest ${digest} ${occurrence}`))) continue;
      verdict.lost.push(`${seen.side.word}'s digest ${digest} of ${new Date(occurrence).toISOString()}`);
    }
  }
}

/** Whoever asks while the database is away is told so with a reference, as of any fault of ours. */
function wasStoreAway({ struck }: Expected, at: number): boolean {
  return struck.some(
    ({ name, from, to }) => STORE_TROUBLES.has(name) && from < at && at < to + STORE_WINDOW_MS,
  );
}

function ids(messages: readonly SeenMessage[]): string[] {
  return messages.flatMap(({ client_msg_id: id }) => (id === undefined ? [] : [id]));
}

function count({ counts }: Verdict, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}
