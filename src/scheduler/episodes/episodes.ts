import type { Message } from '../../core/message.ts';
import {
  EPISODE_JOBS,
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  isUnsaid,
  type Outcome,
  QUIET_MS,
  type Subject,
  subjectKey,
  withOutcomes,
} from '../../records/episodes.ts';
import { projectUrl } from '../../service/addresses.ts';
import { isMessageGone, isPlaceGone, isRefusal, undefinedOnSlackError } from '../../slack/failure.ts';
import { episodeReply, episodeRoot } from '../../views/episodes/episode.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Delivery, post, sendReply } from '../deliver.ts';
import { nameExcluded } from '../mentions.ts';

type Sending = Pick<Delivery, 'signal' | 'possibleDuplicate'>;

/**
 * Notes how something went, oldest first, and says in the channel what changed by it. What is noted is stored before it is
 * said, so that a repetition after a kill counts nothing twice, and says what is still unsaid.
 * @throws SlackFailure where it could not be said: to be repeated, or given up where the channel is gone
 */
export async function noteOutcomes(
  workspace: Workspace,
  subject: Subject,
  outcomes: readonly Outcome[],
  sending: Sending = {},
): Promise<void> {
  const key = subjectKey(subject);
  const now = workspace.clock.now();
  const begins = outcomes.some(({ kind }) => kind === 'failure');
  const noted = await episodeRecords(workspace.store).update(key, (current) => {
    if (current === undefined && !begins) return undefined;
    const known = current ?? { subject, counted: [], episodes: [] };
    return withOutcomes({ ...known, subject }, outcomes, now);
  });
  if (noted === undefined) return;
  await lookAgain(workspace, key, noted);
  if (noted.episodes.some(isUnsaid)) await showEpisodes(workspace, key, sending);
}

/** What a click made of who is on it; `lost`: another click won. */
type OwnerChange = { kind: 'done' | 'over' } | { kind: 'lost'; owner: string };

/**
 * Puts a person on a failure, or takes them off it. Of two clicks on the same message one wins.
 * @param seen who was on it when the button was drawn
 */
export async function changeOwner(
  workspace: Workspace,
  { key, id, seen }: { key: string; id: string; seen: string | undefined },
  { user, isOnIt }: { user: string; isOnIt: boolean },
): Promise<OwnerChange> {
  const wanted = isOnIt ? user : undefined;
  const record = await episodeRecords(workspace.store).update(key, (current) => {
    const episode = current && failingNow(current);
    if (current === undefined || episode?.id !== id || episode.owner === wanted) return current;
    const isFree =
      episode.owner === undefined || episode.owner === user || (isOnIt && episode.owner === seen);
    return isFree ? changed(current, id, { owner: wanted, version: episode.version + 1 }) : current;
  });
  const episode = record && failingNow(record);
  if (record === undefined || episode?.id !== id) return { kind: 'over' };
  await showEpisodes(workspace, key);
  const { owner } = episode;
  return owner === undefined || owner === wanted ? { kind: 'done' } : { kind: 'lost', owner };
}

/** Notes an outcome that a run had, or looks at an episode a week after its latest news. */
export const EPISODE_WORK = defineJob({
  ...EPISODE_JOBS,
  options: { concurrency: 20, attempts: 10, backoffMs: 60_000 },
  async run(workspace, { data: { key, outcome }, signal, attempt }) {
    const sending = { signal, possibleDuplicate: attempt > 1 };
    const work =
      outcome === undefined ? closeQuiet(workspace, key, sending) : noteFor(workspace, key, outcome, sending);
    await undefinedOnSlackError(work, 'gone', 'forbidden');
  },
});

async function noteFor(workspace: Workspace, key: string, outcome: Outcome, sending: Sending): Promise<void> {
  const record = await episodeRecords(workspace.store).get(key);
  if (record !== undefined) await noteOutcomes(workspace, record.subject, [outcome], sending);
}

/** A week after its latest news an episode is closed, and forgotten another week later. */
async function closeQuiet(workspace: Workspace, key: string, sending: Sending): Promise<void> {
  const now = workspace.clock.now();
  const kept = await episodeRecords(workspace.store).update(key, (record) => {
    const last = record?.episodes.at(-1);
    if (record === undefined || last === undefined || now < last.newsAt + QUIET_MS) return record;
    if (last.ending !== undefined) return undefined;
    // A failure that is reported late is newer than the latest that is known.
    const ending = { kind: 'closed', at: last.newsAt } as const;
    return changed(record, last.id, { ending, newsAt: now, version: last.version + 1 });
  });
  if (kept === undefined) return;
  await lookAgain(workspace, key, kept);
  await showEpisodes(workspace, key, sending);
}

async function lookAgain({ jobs }: Workspace, key: string, { episodes }: EpisodeRecord): Promise<void> {
  const at = (episodes.at(-1)?.newsAt ?? 0) + QUIET_MS;
  await jobs.send(EPISODE_JOBS, { key }, { key: `${key} ${at}`, at });
}

/** Says what Slack does not have yet, one after the other for each subject, in all replicas. */
async function showEpisodes(workspace: Workspace, key: string, sending: Sending = {}): Promise<void> {
  await workspace.home.refresh();
  await workspace.store.exclusive(`episode ${key}`, async () => {
    for (;;) {
      const record = await episodeRecords(workspace.store).get(key);
      const episode = record?.episodes.find(isUnsaid);
      if (record === undefined || episode === undefined) return;
      const { person } = record.subject;
      if (person !== undefined && (await workspace.roles.excluded(person)) !== undefined) return;
      await sayNext(workspace, { key, record, episode }, sending);
    }
  });
}

interface Unsaid {
  key: string;
  record: EpisodeRecord;
  episode: Episode;
}

async function sayNext(workspace: Workspace, unsaid: Unsaid, sending: Sending): Promise<void> {
  const { rootTs, version, shownVersion, failureVersion } = unsaid.episode;
  if (version === shownVersion) return sayReply(workspace, unsaid, sending);
  if (rootTs !== undefined) return editRoot(workspace, unsaid, rootTs, sending);
  if (shownVersion < failureVersion) return postRoot(workspace, unsaid, sending);
  // Somebody deleted the root message: only another failure is worth a new one.
  await keep(workspace, unsaid, { shownVersion: version, replies: [] });
}

async function postRoot(workspace: Workspace, unsaid: Unsaid, sending: Sending): Promise<void> {
  const { record, episode } = unsaid;
  const { id, roots, version } = episode;
  const name = `episode ${id} root ${roots}`;
  const { ts } = await post(workspace, {
    id: name,
    channel: record.subject.channel,
    message: drawRoot(workspace, unsaid),
    ...sending,
    possibleDuplicate: await isRepeat(workspace, unsaid, name),
  });
  await keep(workspace, unsaid, {
    // Slack had it already, and it was deleted since.
    rootTs: ts === '' ? undefined : ts,
    roots: roots + 1,
    shownVersion: version,
    // The thread of one that was deleted has what came before.
    ...(roots > 0 ? { replies: [] } : {}),
  });
}

function drawRoot({ config }: Workspace, { key, record: { subject }, episode }: Unsaid): Message {
  const { account, permalink } = subject;
  const url = permalink === undefined ? undefined : projectUrl(account, permalink, config.SERVICE_BASE_URL);
  return episodeRoot(key, subject, episode, url);
}

async function editRoot(workspace: Workspace, unsaid: Unsaid, ts: string, sending: Sending): Promise<void> {
  const { record, episode } = unsaid;
  const { channel } = record.subject;
  const message = await nameExcluded(workspace, drawRoot(workspace, unsaid));
  try {
    await workspace.slack.update({ channel, ts }, message, sending.signal);
  } catch (error) {
    if (isMessageGone(error)) return keep(workspace, unsaid, { rootTs: undefined });
    if (isPlaceGone(error) || !isRefusal(error)) throw error;
    const { reason } = error;
    workspace.log.warn({ event: 'message_refused', channel, reason }, 'Slack refused an edit of an episode');
    // The thread has it then. An archived channel takes neither, and the edit is tried again once it is back.
    if (episode.replies.length > 0) return sayReply(workspace, unsaid, sending);
  }
  await keep(workspace, unsaid, { shownVersion: episode.version });
}

async function sayReply(workspace: Workspace, unsaid: Unsaid, sending: Sending): Promise<void> {
  const { record, episode } = unsaid;
  const { channel } = record.subject;
  const [reply] = episode.replies;
  const { threads } = await workspace.channels.get(channel);
  if (reply !== undefined && episode.rootTs !== undefined && threads !== false) {
    const id = `episode ${episode.id} ${reply.kind} ${reply.number}`;
    const message = episodeReply(reply);
    const possibleDuplicate = await isRepeat(workspace, unsaid, id);
    const what = { id, channel, threadTs: episode.rootTs, message, ...sending, possibleDuplicate };
    await sendReply(workspace, channel, () => post(workspace, what));
  }
  await episodeRecords(workspace.store).update(unsaid.key, (current) => {
    const { replies = [] } = current?.episodes.find(({ id }) => id === episode.id) ?? {};
    // Where another replica, which a crash of the database let in beside this one, has said it too, the next one is left.
    const left = replies.filter(({ kind, number }) => kind !== reply?.kind || number !== reply.number);
    return changed(current, episode.id, { replies: left });
  });
}

/** Whether a post was begun before, perhaps by another job; that it begins now is stored first. */
async function isRepeat(workspace: Workspace, unsaid: Unsaid, name: string): Promise<boolean> {
  if (unsaid.episode.attempted === name) return true;
  await keep(workspace, unsaid, { attempted: name });
  return false;
}

async function keep({ store }: Workspace, { key, episode }: Unsaid, change: Partial<Episode>): Promise<void> {
  await episodeRecords(store).update(key, (current) => changed(current, episode.id, change));
}

function changed<R extends EpisodeRecord | undefined>(record: R, id: string, change: Partial<Episode>): R {
  if (record === undefined) return record;
  const episodes = record.episodes.map((one) => (one.id === id ? { ...one, ...change } : one));
  return { ...record, episodes };
}
