import { showThread, type Thread } from '../../cards/deliver.ts';
import { defined, hashJson } from '../../core/json.ts';
import {
  afterClick,
  changeEpisode,
  DIAGNOSIS_JOBS,
  type Diagnosis,
  EPISODE_JOBS,
  type Episode,
  type EpisodeJob,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  makeProjectRef,
  type Outcome,
  QUIET_MS,
  type ShownSubject,
  type Subject,
  subjectKey,
  takeOver,
  type Verb,
  withClosed,
  withOutcomes,
  withoutShown,
} from '../../records/episodes.ts';
import { keepRecoveries } from '../../records/recoveries.ts';
import { REVIEW_FAILURES } from '../../records/schedules.ts';
import { changeTogether, noteShown, putShared, readShared } from '../../records/shared-failures.ts';
import { projectUrl } from '../../service/addresses.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { diagnosisReply } from '../../views/episodes/diagnosis.ts';
import { episodeReply, episodeRoot } from '../../views/episodes/episode.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { planEscalation } from './escalation.ts';
import { planLook } from './plan-look.ts';

/**
 * Stores outcomes, oldest first, then posts the changes in the channel. Because they are stored first, a
 * repeat after a kill counts nothing twice and posts the rest.
 * @throws SlackFailure if a post failed: repeat the call, or give up if the channel is gone
 */
export async function noteOutcomes(
  workspace: Workspace,
  subject: Subject,
  outcomes: readonly Outcome[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const key = subjectKey(subject);
  const begins = outcomes.some(({ kind }) => kind === 'failure');
  const noted = await storeOutcomes(workspace, subject, outcomes, begins);
  if (noted === undefined) return;
  await afterNews(workspace, key, noted);
  if (begins && subject.kind === 'deployments') await haveDiagnosed(workspace, key, failingNow(noted));
  await showEpisodes(workspace, key, signal);
}

/** A failure that begins here may have its owner from another channel. Returns undefined if nothing fails. */
async function storeOutcomes(
  workspace: Workspace,
  subject: Subject,
  outcomes: readonly Outcome[],
  begins: boolean,
): Promise<EpisodeRecord | undefined> {
  const { clock, store } = workspace;
  const key = subjectKey(subject);
  const records = episodeRecords(store);
  if (!begins && (await records.get(key)) === undefined) return undefined;
  return changeTogether(store, subject, async () => {
    const shared = await readShared(store, subject);
    const changed = await records.update(key, (current) => {
      if (current === undefined && !begins) return undefined;
      const before = current ?? { subject, counted: [], episodes: [] };
      const after = withOutcomes({ ...before, subject }, outcomes, clock.now());
      const { id = '' } = failingNow(after) ?? {};
      return id === failingNow(before)?.id ? after : changeEpisode(after, id, { owner: shared.owner });
    });
    const isShown = changed !== undefined && failingNow(changed) !== undefined;
    await noteShown(store, subject, shared, { key, isShown, now: clock.now() });
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

/** The test of the project runs while Slack takes the message. */
async function haveDiagnosed({ jobs }: Workspace, key: string, episode: Episode | undefined): Promise<void> {
  if (episode === undefined) return;
  const failure = `${episode.id} ${episode.failures}`;
  await jobs.send(DIAGNOSIS_JOBS, { key, failure }, { key: failure });
}

/** Shows the result of a project's test on its failure. */
export async function noteDiagnosis(
  workspace: Workspace,
  { key, id }: { key: string; id: string },
  diagnosis: Diagnosis,
  signal: AbortSignal,
): Promise<void> {
  await episodeRecords(workspace.store).update(key, (current) => changeEpisode(current, id, { diagnosis }));
  await showEpisodes(workspace, key, signal);
}

/** Result of a click. `over`: the episode had ended; `requestedBy` closed it. `lost`: another click won. */
type Clicked =
  | { kind: 'done' }
  | { kind: 'over'; requestedBy?: string | undefined }
  | { kind: 'lost'; owner: string };

/**
 * Assigns a person to a failure, removes them, or closes it. Of two clicks on the same message one wins. A
 * repeat after a kill changes nothing, and posts what Slack does not show yet.
 * @param drawnOwner the owner when Slack showed the button
 */
export async function changeOwner(
  workspace: Workspace,
  { key, id, drawnOwner }: { key: string; id: string; drawnOwner: string | undefined },
  { user, verb }: { user: string; verb: Verb },
): Promise<Clicked> {
  const before = await episodeRecords(workspace.store).get(key);
  const record =
    before &&
    (await changeTogether(workspace.store, before.subject, () =>
      storeClick(workspace, before.subject, { key, id, click: { user, verb, drawnOwner } }),
    ));
  const clicked = record?.episodes.find((one) => one.id === id);
  const isClosed = verb === 'close' && clicked?.ending?.requestedBy === user;
  if (record === undefined || clicked === undefined || (clicked.ending !== undefined && !isClosed))
    return { kind: 'over', requestedBy: clicked?.ending?.requestedBy };
  if (isClosed) await afterNews(workspace, key, record);
  await showEpisodes(workspace, key);
  const { owner } = clicked;
  return isClosed || owner === undefined || owner === user ? { kind: 'done' } : { kind: 'lost', owner };
}

interface StoredClick {
  key: string;
  id: string;
  click: { user: string; verb: Verb; drawnOwner: string | undefined };
}

/** Stores a click for all messages of the failure, the clicked one last, so that a repeat after a kill changes the rest. */
async function storeClick(
  { clock, jobs, store }: Workspace,
  subject: Subject,
  { key, id, click }: StoredClick,
): Promise<EpisodeRecord | undefined> {
  const records = episodeRecords(store);
  const now = clock.now();
  const record = await records.get(key);
  const episode = record?.episodes.find((one) => one.id === id);
  if (record === undefined || episode === undefined) return record;
  const isOpen = episode.ending === undefined;
  const after = isOpen ? afterClick(episode, { ...click, now }) : episode;
  const shared = await readShared(store, subject);
  const others = shared.shownBy.filter((one) => one !== key);
  if (after !== episode)
    for (const other of others)
      await records.update(other, (current) => {
        const open = current && failingNow(current);
        return open && changeEpisode(current, open.id, takeOver(open, after, { ...click, now }));
      });
  const changed = await records.update(key, (current) => changeEpisode(current, id, after));
  const shownBy = after.ending === undefined ? shared.shownBy : [];
  if (after !== episode)
    await putShared(store, subject, { shownBy, ...defined({ owner: after.owner }) }, now);
  // These jobs only draw the messages.
  for (const other of others)
    await jobs.send(EPISODE_JOBS, { key: other }, { key: `${other} ${id} ${after.clicks ?? 0}` });
  return changed;
}

/** Notes the outcome of a run, or closes an episode after a quiet week. */
export const EPISODE_WORK = defineJob({
  ...EPISODE_JOBS,
  options: { concurrency: 20, attempts: 10, backoffMs: 60_000 },
  run: (workspace, { data, signal }) =>
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
  if (closedRecord === undefined) return;
  if (failingNow(closedRecord) === undefined) await leaveShared(workspace, closedRecord.subject, key);
  await afterNews(workspace, key, closedRecord);
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
  if (record === undefined) return;
  await leaveShared(workspace, record.subject, key);
  await afterNews(workspace, key, record);
  await showEpisodes(workspace, key, signal);
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
    const change = { ending: undefined, newsAt: clock.now(), owner };
    return episodeRecords(store).update(key, (current) => changeEpisode(current, id, change));
  });
  if (record === undefined) return;
  await afterNews(workspace, key, record);
  await showEpisodes(workspace, key, signal);
}

/** Shows on a failure whether all that follows it in the channel is paused. */
export async function drawPaused(
  workspace: Workspace,
  { key, id, isPaused }: { key: string; id: string; isPaused: boolean },
  signal: AbortSignal,
): Promise<void> {
  await episodeRecords(workspace.store).update(key, (current) => changeEpisode(current, id, { isPaused }));
  await showEpisodes(workspace, key, signal);
}

/** A later failure of the channel is another one. */
async function leaveShared({ clock, store }: Workspace, subject: Subject, key: string): Promise<void> {
  await changeTogether(store, subject, async () => {
    const shared = await readShared(store, subject);
    await noteShown(store, subject, shared, { key, isShown: false, now: clock.now() });
  });
}

/**
 * Stores ended episodes, and plans another look in a week. Forgets failures of closed episodes, so that no
 * success ends them.
 */
async function afterNews(workspace: Workspace, key: string, record: EpisodeRecord): Promise<void> {
  const { store, jobs, feeds } = workspace;
  const { subject, episodes } = record;
  await keepRecoveries(store, record);
  const { ending, newsAt = 0 } = episodes.at(-1) ?? {};
  if (ending?.kind === 'closed' && subject.kind === 'deployments')
    await feeds.update('watch', subject, (feed) => {
      const { [subject.project]: _, ...failing } = feed?.failing ?? {};
      return feed && { ...feed, failing };
    });
  const at = newsAt + QUIET_MS;
  await jobs.send(EPISODE_JOBS, { key }, { key: `${key} ${at}`, at });
  const open = failingNow(record);
  if (open !== undefined) await planLook(workspace, { key, episode: open.id, newsAt: open.newsAt });
}

/** Posts what Slack does not show yet. Takes a lock for each subject, across replicas. */
async function showEpisodes(workspace: Workspace, key: string, signal?: AbortSignal): Promise<void> {
  const records = episodeRecords(workspace.store);
  await workspace.home.refresh();
  await workspace.store.exclusive(`episode ${key}`, async () => {
    const record = await records.get(key);
    if (record === undefined) return;
    const { person } = record.subject;
    if (person !== undefined && (await workspace.roles.excluded(person)) !== undefined) return;
    const subject = { ...record.subject, isAccountShown: await workspace.accounts.hasSeveral() };
    for (const episode of record.episodes)
      await showThread(workspace, { ...threadFor(workspace, key, subject, episode), signal });
    const isMore = ({ replies }: Episode, at: number): boolean => at > 0 || replies.length > 0;
    if (record.episodes.some(isMore))
      await records.update(key, (current) => current && withoutShown(current, record));
    if (record.episodes.at(-1)?.escalates?.length) await planEscalation(workspace, key);
  });
}

type Reply = Thread['replies'][number];

/** The name is a hash of the unreachable parts, so that the same result posts no second reply. */
function makeDetailsReply(subject: Subject, diagnosis: Diagnosis): Reply {
  const name = hashJson(diagnosis.items).slice(0, 12);
  return [`diagnosis ${name}`, diagnosisReply(subject.account, makeProjectRef(subject), diagnosis)];
}

function threadFor(
  { clock, config, store }: Workspace,
  key: string,
  subject: ShownSubject,
  episode: Episode,
): Thread {
  const { id, failures, rootRef, diagnosis, ending } = episode;
  const drawnAt = clock.now();
  const { channel, account, permalink } = subject;
  const url = permalink === undefined ? undefined : projectUrl(account, permalink, config.SERVICE_BASE_URL);
  return {
    id: `episode ${id}`,
    channel,
    root: episodeRoot(key, subject, episode, url),
    cause: `failure ${failures}`,
    replies: [
      ...episode.replies.map((news): Reply => [`${news.kind} ${news.number}`, episodeReply(news)]),
      ...(ending === undefined && diagnosis?.items.length ? [makeDetailsReply(subject, diagnosis)] : []),
    ],
    rootRef,
    async save(now) {
      await episodeRecords(store).update(key, (current) => {
        // Its owner may have handed it back while Slack was slow.
        const { idleSince = drawnAt } = current?.episodes.find((one) => one.id === id) ?? {};
        return changeEpisode(current, id, { rootRef: now, idleSince });
      });
    },
  };
}
