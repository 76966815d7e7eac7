import type { Replies } from '../../cards/deliver.ts';
import { defined, hashJson } from '../../core/json.ts';
import {
  changeEpisode,
  type Diagnosis,
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  makeProjectRef,
  type News,
  type Outcome,
  QUIET_MS,
  type RootRef,
  type ShownSubject,
  type Subject,
  subjectKey,
  withClosed,
  withoutShown,
} from '../../records/episodes.ts';
import { togetherMs } from '../../records/outages.ts';
import { withOutcomes } from '../../records/outcomes.ts';
import { channelQuiets, findQuiet, isCovered, readQuiet } from '../../records/quiets.ts';
import { keepRecoveries } from '../../records/recoveries.ts';
import { changeTogether, noteShown, readShared } from '../../records/shared-failures.ts';
import { type Deployment, findLastGood } from '../../records/standings.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { diagnosisReply } from '../../views/episodes/diagnosis.ts';
import { episodeReply, episodeRoot } from '../../views/episodes/episode.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { countFailure, isLikelyOutage } from './count-failures.ts';
import { planEscalation } from './escalation.ts';
import { DIAGNOSIS_JOBS, EPISODE_JOBS, type EpisodeJob, planLook, REVIEW_FAILURES } from './queues.ts';
import { showFailure } from './show-failure.ts';
import { showOutage, wakeOutage } from './show-outage.ts';

/**
 * Stores outcomes, oldest first, then posts the changes in the channel. Because they are stored first, a
 * repeat after a kill counts nothing twice and posts the rest.
 * @param others outcomes of other projects that the channel is about to hear of, so that many failures are one message
 * @throws SlackFailure if a post failed: repeat the call, or give up if the channel is gone
 */
export async function noteOutcomes(
  workspace: Workspace,
  subject: Subject,
  outcomes: readonly Outcome[],
  { signal, others = [] }: { signal?: AbortSignal | undefined; others?: readonly Noted[] } = {},
): Promise<void> {
  const key = subjectKey(subject);
  const begins = hasFailure({ outcomes });
  const noted = await storeNoted(workspace, { subject, outcomes });
  if (noted === undefined) return;
  const failing = others.filter((one) => hasFailure(one) && subjectKey(one.subject) !== key);
  if (begins)
    await countFailure(workspace, noted, failing.length, async () => {
      const records = [];
      for (const other of failing) records.push(await storeNoted(workspace, other));
      return records.filter((record) => record !== undefined);
    });
  if (begins && subject.kind === 'deployments') await haveDiagnosed(workspace, noted);
  await showEpisodes(workspace, key, signal);
}

/** Outcomes of a subject, oldest first. */
export interface Noted {
  subject: Subject;
  outcomes: readonly Outcome[];
}

function hasFailure({ outcomes }: Pick<Noted, 'outcomes'>): boolean {
  return outcomes.some(({ kind }) => kind === 'failure');
}

async function storeNoted(workspace: Workspace, noted: Noted): Promise<EpisodeRecord | undefined> {
  const record = await storeOutcomes(workspace, noted);
  if (record !== undefined) await afterNews(workspace, subjectKey(noted.subject), record);
  return record;
}

/** A failure that begins here may have its owner from another channel. Returns undefined if nothing fails. */
async function storeOutcomes(
  workspace: Workspace,
  { subject, outcomes }: Noted,
): Promise<EpisodeRecord | undefined> {
  const { clock, store } = workspace;
  const begins = hasFailure({ outcomes });
  const key = subjectKey(subject);
  const records = episodeRecords(store);
  const quiet = await readQuiet(store, subject, clock.now());
  const news = quiet === undefined ? outcomes : outcomes.map((one) => ({ ...one, isQuiet: true }));
  if (!begins && (await records.get(key)) === undefined) return undefined;
  return changeTogether(store, subject, async () => {
    const shared = await readShared(store, subject);
    const changed = await records.update(key, (current) => {
      if (current === undefined && !begins) return undefined;
      const before = current ?? { subject, counted: [], episodes: [] };
      const after = withOutcomes({ ...before, subject }, news, clock.now());
      const { id = '', owner: earlier } = failingNow(after) ?? {};
      const owner = shared.owner ?? earlier;
      return id === failingNow(before)?.id ? after : changeEpisode(after, id, { owner });
    });
    const open = changed && failingNow(changed);
    const isShown = open !== undefined;
    const owned = { ...shared, ...defined({ owner: open?.owner ?? shared.owner }) };
    await noteShown(store, subject, owned, { key, isShown, now: clock.now() });
    // Other channels may not hear of the success: they are paused, or outside their hours.
    if (!isShown && subject.kind === 'deployments' && shared.shownBy.includes(key))
      await reviewOthers(workspace, key, shared.shownBy);
    return changed;
  });
}

async function reviewOthers(
  { jobs, store }: Workspace,
  key: string,
  shownBy: readonly string[],
): Promise<void> {
  for (const other of shownBy.filter((one) => one !== key)) {
    const record = await episodeRecords(store).get(other);
    if (record === undefined) continue;
    const { channel, account } = record.subject;
    await jobs.send(REVIEW_FAILURES, { channel, account, key: other });
  }
}

/** The failed step is read, and the project is tested, while Slack takes the message. An outage says enough with a few tests. */
async function haveDiagnosed(workspace: Workspace, record: EpisodeRecord): Promise<void> {
  const { clock, jobs } = workspace;
  const episode = failingNow(record);
  if (episode === undefined) return;
  const key = subjectKey(record.subject);
  const failure = `${episode.id} ${episode.failures}`;
  const isLater = await isLikelyOutage(workspace, record);
  const later = isLater ? { at: clock.now() + togetherMs(record.subject) } : {};
  await jobs.send(DIAGNOSIS_JOBS, { key, failure }, { key: failure, ...later });
}

/** Shows on a failure why deployments fail (the result of a test, the failed step), or that all that follows it is paused. */
export async function showFact(
  workspace: Workspace,
  { key, id }: { key: string; id: string },
  fact: Pick<Episode, 'diagnosis' | 'isPaused' | 'step'>,
  signal: AbortSignal,
): Promise<void> {
  await episodeRecords(workspace.store).update(key, (current) => changeEpisode(current, id, fact));
  await showEpisodes(workspace, key, signal);
}

/** Notes the outcome of a run, or closes an episode after a quiet week. */
export const EPISODE_WORK = defineJob({
  ...EPISODE_JOBS,
  options: { concurrency: 20, attempts: 10, backoffMs: 60_000 },
  handle: (workspace, { data, signal }) =>
    undefinedOnSlackError(noteOrClose(workspace, data, signal), 'gone', 'forbidden'),
});

async function noteOrClose(
  workspace: Workspace,
  { key, outcome }: EpisodeJob,
  signal: AbortSignal,
): Promise<void> {
  if (outcome === undefined) return closeQuiet(workspace, key, signal);
  const record = await episodeRecords(workspace.store).get(key);
  if (record !== undefined) await noteOutcomes(workspace, record.subject, [outcome], { signal });
}

async function closeQuiet(workspace: Workspace, key: string, signal: AbortSignal): Promise<void> {
  const now = workspace.clock.now();
  const closedRecord = await episodeRecords(workspace.store).update(key, (record) => {
    const last = record?.episodes.at(-1);
    if (record === undefined || last === undefined || now < last.newsAt + QUIET_MS) return record;
    if (last.ending !== undefined) return undefined;
    // A failure that is reported later is then newer than the latest one.
    const ending = { kind: 'closed', at: last.newsAt } as const;
    return changeEpisode(record, last.id, { ending, newsAt: now });
  });
  await showNews(workspace, key, closedRecord, signal);
}

async function showNews(
  workspace: Workspace,
  key: string,
  record: EpisodeRecord | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (record === undefined) return;
  if (failingNow(record) === undefined) await leaveShared(workspace, record.subject, key);
  await afterNews(workspace, key, record);
  await showEpisodes(workspace, key, signal);
}

/** Ends a failure that nothing here will mend. Safe to repeat. */
export async function closeEpisode(
  workspace: Workspace,
  { key, id, why }: { key: string; id: string; why: 'gone' | 'unfollowed' },
  signal: AbortSignal,
): Promise<void> {
  const { clock, store } = workspace;
  const record = await episodeRecords(store).update(
    key,
    (current) => current && withClosed(current, id, why, clock.now()),
  );
  await showNews(workspace, key, record, signal);
}

/** Goes on with a failure that the channel follows again. */
export async function reopenEpisode(
  workspace: Workspace,
  { key, id }: { key: string; id: string },
  signal: AbortSignal,
): Promise<void> {
  const { clock, store } = workspace;
  const before = await episodeRecords(store).get(key);
  if (before === undefined) return;
  const record = await changeTogether(store, before.subject, async () => {
    const shared = await readShared(store, before.subject);
    const owner = shared.owner ?? before.episodes.find((one) => one.id === id)?.owner;
    await noteShown(store, before.subject, { ...shared, owner }, { key, isShown: true, now: clock.now() });
    const change = { ending: undefined, newsAt: clock.now(), owner, heldAt: undefined };
    return episodeRecords(store).update(key, (current) => changeEpisode(current, id, change));
  });
  await showNews(workspace, key, record, signal);
}

/** A later failure of the channel is another one. */
async function leaveShared({ clock, store }: Workspace, subject: Subject, key: string): Promise<void> {
  await changeTogether(store, subject, async () => {
    const shared = await readShared(store, subject);
    await noteShown(store, subject, shared, { key, isShown: false, now: clock.now() });
  });
}

/** Stores ended episodes, and plans another look in a week. */
export async function afterNews(workspace: Workspace, key: string, record: EpisodeRecord): Promise<void> {
  const { store, jobs } = workspace;
  const { episodes } = record;
  await keepRecoveries(store, record);
  const newsAt = episodes.at(-1)?.newsAt ?? 0;
  const at = newsAt + QUIET_MS;
  await jobs.send(EPISODE_JOBS, { key }, { key: `${key} ${at}`, at });
  const open = failingNow(record);
  if (open !== undefined) await planLook(workspace, { key, episode: open.id, newsAt: open.newsAt });
}

/** Posts what Slack does not show yet. Takes a lock for each subject, across replicas. */
export async function showEpisodes(workspace: Workspace, key: string, signal?: AbortSignal): Promise<void> {
  const records = episodeRecords(workspace.store);
  await workspace.home.refresh();
  await workspace.store.exclusive(`episode ${key}`, async () => {
    const record = await records.get(key);
    if (record === undefined) return;
    const { person } = record.subject;
    if (person !== undefined && (await workspace.roles.excluded(person)) !== undefined) return;
    const quiets = (await channelQuiets(workspace.store).get(record.subject.channel))?.quiets ?? [];
    const subject = {
      ...record.subject,
      isAccountShown: person !== undefined || (await workspace.accounts.hasSeveral()),
      lastGood: await readLastGood(workspace, record),
      quiet: findQuiet(quiets, record.subject, workspace.clock.now()),
      pages: workspace.pages,
    };
    const isHeld = isCovered(quiets, record.subject);
    for (const episode of record.episodes.filter((one) => hasOwnMessage(one, isHeld)))
      await showFailure(workspace, { ...failureCard(workspace, key, subject, episode), signal });
    for (const episode of record.episodes)
      await wakeOutage(workspace, record.subject, episode, hasOwnMessage(episode, isHeld));
    const isMore = ({ replies }: Episode, at: number): boolean => at > 0 || replies.length > 0;
    if (record.episodes.some(isMore))
      await records.update(key, (current) => current && withoutShown(current, record));
    if (record.episodes.at(-1)?.escalates?.length) await planEscalation(workspace, key);
  });
  const outages = (await records.get(key))?.episodes.flatMap(({ outage }) => outage ?? []) ?? [];
  for (const outage of outages) await showOutage(workspace, outage, { signal });
}

/** @param isHeld true until the message after a quiet shows what failed meanwhile */
function hasOwnMessage({ outage, rootRef, heldAt, ending }: Episode, isHeld: boolean): boolean {
  if (rootRef !== undefined) return true;
  if (heldAt !== undefined && (isHeld || ending !== undefined)) return false;
  return outage === undefined || outage.hasOwn === true;
}

async function readLastGood({ ledger }: Workspace, record: EpisodeRecord): Promise<Deployment | undefined> {
  const { kind, account, project } = record.subject;
  const episode = failingNow(record);
  if (kind !== 'deployments' || episode === undefined) return undefined;
  const { servers = [], allServers = servers } = episode;
  const standing = await ledger.standings.get(account, project);
  return standing && findLastGood(standing, allServers);
}

type Reply = Replies[number];

/** The name is a hash of the unreachable parts, so that the same result posts no second reply. */
function makeDetailsReply(subject: Subject, diagnosis: Diagnosis): Reply {
  const name = hashJson(diagnosis.items).slice(0, 12);
  return [`diagnosis ${name}`, diagnosisReply(subject.account, makeProjectRef(subject), diagnosis)];
}

function makeReply(subject: ShownSubject, episode: Episode, news: News): Reply {
  const { kind, number, name = `${kind} ${number}`, isForChannel } = news;
  return [name, episodeReply(subject, episode, news), isForChannel];
}

function failureCard({ clock, store }: Workspace, key: string, subject: ShownSubject, episode: Episode) {
  const { id, failures, rootRef, diagnosis, ending } = episode;
  const drawnAt = clock.now();
  const { channel } = subject;
  return {
    id: `episode ${id}`,
    channel,
    root: episodeRoot(key, subject, episode),
    cause: `failure ${failures}`,
    replies: [
      ...episode.replies.map((news) => makeReply(subject, episode, news)),
      ...(ending === undefined && subject.quiet === undefined && diagnosis?.items.length
        ? [makeDetailsReply(subject, diagnosis)]
        : []),
    ],
    rootRef,
    async save(now: RootRef) {
      await episodeRecords(store).update(key, (current) => {
        // Its owner may have handed it back while Slack was slow.
        const { idleSince = drawnAt } = current?.episodes.find((one) => one.id === id) ?? {};
        return changeEpisode(current, id, { rootRef: now, idleSince });
      });
    },
  };
}
