import { mayRead } from '../../core/message.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import { readChannelProject } from '../../records/channels.ts';
import { episodeRecords, failingNow, type ShownSubject, type Subject } from '../../records/episodes.ts';
import {
  type Followed,
  findFollowedServers,
  isFailed,
  isMended,
  isSettled,
  listClosed,
  makeSubject,
} from '../../records/failure-rules.ts';
import { MIN_MEMBERS } from '../../records/outages.ts';
import { withOutcomes } from '../../records/outcomes.ts';
import { createQuietFinder } from '../../records/quiets.ts';
import type { Schedule } from '../../records/schedules.ts';
import { type Mentions, makePersonKey } from '../../records/service-people.ts';
import { failureKey } from '../../records/shared-failures.ts';
import type { ServerStanding, Standing } from '../../records/standings.ts';
import { readOutage } from '../../scheduler/episodes/count-failures.ts';
import { makeFailure } from '../../scheduler/episodes/standing-failure.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import type {
  AccountAge,
  AccountFailing,
  FailingNow,
  ShownFailure,
} from '../../views/episodes/failing-message.ts';
import { listFailing, type ShownOutage } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Watches and guards that a person may read, in a channel or everywhere if it is undefined. */
export async function readFollowers(
  { schedules }: Workspace,
  user: string,
  channel: string | undefined,
): Promise<Schedule[]> {
  return (await schedules.all()).filter(
    ({ kind, channel: where, createdBy: person }) =>
      (kind === 'guard' || kind === 'watch') &&
      where === (channel ?? where) &&
      mayRead(user, { channel: where, person }),
  );
}

/** Reads what fails in a channel, or everywhere that a person may read if it is undefined. */
export async function readFailing(
  workspace: Workspace,
  user: string,
  channel: string | undefined,
): Promise<FailingNow> {
  const followers = await readFollowers(workspace, user, channel);
  const bound = await readBound(workspace, user, channel);
  const followed = [...followers.flatMap(readFollowed), ...bound];
  const isHere = (subject: Subject): boolean =>
    subject.channel === (channel ?? subject.channel) && mayRead(user, subject);
  const failures = await findFailing(workspace, followed, isHere, channel);
  return { ...failures, ages: await readAges(workspace, followed) };
}

/** Reads what fails in each account that a person may see, whether anybody follows it or not. */
export async function readAllFailing(workspace: Workspace, user: string): Promise<AccountFailing[]> {
  const accounts = [...new Set((await workspace.accounts.list({ user })).map(({ name }) => name))];
  const followed = accounts.map((account) => ({ account }));
  const isHere = ({ account, person }: Subject): boolean =>
    person === undefined && accounts.includes(account);
  const { failures, settled } = await findFailing(workspace, followed, isHere, undefined);
  const ages = await readAges(workspace, followed);
  // Each is under its account, so that none needs its name. An address would tell of a channel that the person may not know.
  const listOwn = (all: readonly ShownFailure[], account: string): ShownFailure[] =>
    all
      .filter(({ subject }) => subject.account === account)
      .map(({ link: _, ...one }) => ({ ...one, subject: { ...one.subject, isAccountShown: false } }));
  return accounts.map((account) => ({
    account,
    failures: listOwn(failures, account),
    settled: listOwn(settled, account),
    ages: ages.filter((age) => age.account === account),
  }));
}

function readFollowed(schedule: Schedule): Followed[] {
  if (schedule.kind === 'guard') return [{ account: schedule.account, project: schedule.project }];
  return schedule.kind === 'watch' ? [schedule] : [];
}

/** The projects that channels are bound to. */
async function readBound(
  { accounts, channels }: Workspace,
  user: string,
  channel: string | undefined,
): Promise<Followed[]> {
  const all =
    channel === undefined ? await channels.list() : [{ ...(await channels.get(channel)), id: channel }];
  const fallback = await accounts.defaultName({ user });
  return all.flatMap((one) => {
    const account = one.account ?? fallback;
    const project = readChannelProject(one, account);
    return account === undefined || project === undefined ? [] : [{ account, project }];
  });
}

/** Slack needs one call for each address. */
const MAX_LINKED = 20;

/**
 * Open failures, and those that the latest deployments tell of. A failure that several channels show is listed once.
 * @param isHere true for the subjects whose messages count
 */
async function findFailing(
  workspace: Workspace,
  followed: readonly Followed[],
  isHere: (subject: Subject) => boolean,
  channel: string | undefined,
): Promise<Pick<FailingNow, 'failures' | 'settled'>> {
  const { accounts, clock, ledger, names, pages, store } = workspace;
  const records = await episodeRecords(store).list();
  const here = records.filter(({ doc }) => isHere(doc.subject));
  const isAccountShown = await accounts.hasSeveral();
  const read = new Set([...followed, ...here.map(({ doc }) => doc.subject)].map(({ account }) => account));
  const standings = (await Promise.all([...read].map((account) => ledger.standings.list(account)))).flat();
  const byKey = new Map(standings.map((one) => [failureKey({ kind: 'deployments', ...one }), one]));
  const findQuiet = await createQuietFinder(store, clock.now());
  const show = (subject: Subject): ShownSubject => ({
    ...subject,
    isAccountShown,
    pages,
  });
  const open = here.flatMap(({ id: key, doc }): ShownFailure[] => {
    const episode = failingNow(doc);
    if (episode === undefined || isMended(doc, byKey.get(failureKey(doc.subject)))) return [];
    return [{ key, subject: { ...show(doc.subject), quiet: findQuiet(doc.subject) }, episode }];
  });
  // People read their own direct messages last: nobody can take a failure there.
  const channelsFirst = open.toSorted((one, other) => Number(isPersonal(one)) - Number(isPersonal(other)));
  const openByKey = new Map(channelsFirst.toReversed().map((one) => [failureKey(one.subject), one]));
  const closed = listClosed(records.map(({ doc }) => doc));
  const outages = await findOutages(workspace, channelsFirst);
  const isCovered = (key: string): boolean => outages.some(({ covers }) => covers.has(key));
  const failures = [
    ...outages.map(({ failure }) => failure),
    ...[...openByKey].filter(([key]) => !isCovered(key)).map(([, one]) => one),
  ];
  const settled: ShownFailure[] = [];
  for (const [key, standing] of byKey) {
    if (openByKey.has(key)) continue;
    const mentions = await names.mentions(standing.account);
    const servers = findFollowedServers(standing, followed, mentions).filter(isFailed);
    if (servers.length === 0) continue;
    const all = isSettled(servers, closed.get(key), clock.now()) ? settled : failures;
    const own = makeShown(standing, servers, { channel: channel ?? '', mentions, now: clock.now() });
    all.push(...own.map((failure) => ({ ...failure, subject: show(failure.subject) })));
  }
  const latestFirst = (all: readonly ShownFailure[]): ShownFailure[] =>
    all.toSorted((one, other) => other.episode.since - one.episode.since);
  return { failures: await addLinks(workspace, latestFirst(failures)), settled: latestFirst(settled) };
}

/** Outages, each as one failure. Those whose failures others have are left out. @param open in display order */
async function findOutages(
  workspace: Workspace,
  open: readonly ShownFailure[],
): Promise<Array<{ failure: ShownFailure; covers: ReadonlySet<string> }>> {
  const outages: Array<{ failure: ShownFailure; covers: ReadonlySet<string> }> = [];
  for (const own of Map.groupBy(open, ({ episode }) => episode.outage?.id).values()) {
    const [first] = own;
    const ref = first?.episode.outage;
    if (first === undefined || ref === undefined) continue;
    const state = await readOutage(workspace, ref);
    if (state === undefined) continue;
    const { view, outage: stored } = state;
    const outage = { ...view, members: view.members.filter((one) => !isShownAlone(view, one)) };
    const keys = own.filter((one) => !isShownAlone(view, one)).map(({ subject }) => failureKey(subject));
    if (keys.every((key) => outages.some(({ covers }) => covers.has(key)))) continue;
    const { ts } = stored.root ?? {};
    const link = ts ? await workspace.home.permalink({ channel: outage.channel, ts }) : undefined;
    outages.push({ failure: { ...first, outage, link }, covers: new Set(keys) });
  }
  return outages;
}

/** True for one of few failures after a quiet that has a message of its own, where people take it. */
function isShownAlone(outage: ShownOutage, { episode }: Pick<ShownFailure, 'episode'>): boolean {
  return (
    outage.quiet !== undefined && listFailing(outage).length < MIN_MEMBERS && episode.outage?.hasOwn === true
  );
}

function isPersonal({ subject }: ShownFailure): boolean {
  return subject.person !== undefined;
}

/** A failure that no message shows. */
function makeShown(
  standing: Standing,
  servers: readonly ServerStanding[],
  { channel, mentions, now }: { channel: string; mentions: Mentions; now: number },
): ShownFailure[] {
  const subject = makeSubject(standing, channel);
  const failure = makeFailure(standing, servers, (name) => mentions.get(makePersonKey(name)));
  const { episodes } = withOutcomes({ subject, counted: [], episodes: [] }, [failure], now);
  return episodes.map((episode) => ({ key: undefined, subject, episode }));
}

/** The first ones have links to their messages. */
async function addLinks({ home }: Workspace, failures: readonly ShownFailure[]): Promise<ShownFailure[]> {
  const withLink = async (failure: ShownFailure, at: number): Promise<ShownFailure> => {
    const { subject, episode, outage } = failure;
    const { ts } = episode.rootRef ?? {};
    if (outage !== undefined || !ts || at >= MAX_LINKED) return failure;
    return { ...failure, link: await home.permalink({ channel: subject.channel, ts }) };
  };
  return Promise.all(failures.map(withLink));
}

/** An account that was not read for so many intervals may have failed since. */
const OLD_INTERVALS = 3;

async function readAges(workspace: Workspace, followed: readonly Followed[]): Promise<AccountAge[]> {
  const readPace = await readPolling(workspace, ACTIVITY);
  return [...new Set(followed.map(({ account }) => account))].flatMap((account): AccountAge[] => {
    const { intervalMs, failures, lookedAt: readAt } = readPace(account);
    if (readAt === undefined) return [];
    const isUnanswered = failures > 0;
    // Polls every few seconds are late on a busy machine.
    const leastMs = isUnanswered ? 0 : MINUTE_MS;
    const isOld = workspace.clock.now() - readAt > OLD_INTERVALS * Math.max(intervalMs, leastMs);
    return [{ account, readAt, isOld, isUnanswered }];
  });
}
