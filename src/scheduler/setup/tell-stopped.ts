import { isUndeliverable, logRefused } from '../../cards/deliver.ts';
import {
  changeEpisode,
  type Episode,
  episodeRecords,
  failingNow,
  type News,
  type Subject,
} from '../../records/episodes.ts';
import { followsFailure } from '../../records/failure-rules.ts';
import type { Quiet } from '../../records/quiets.ts';
import type { Schedule } from '../../records/schedules.ts';
import { quietNotice } from '../../views/episodes/quiet-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { listQuietFailures } from '../episodes/begin-quiet.ts';
import { EPISODE_JOBS } from '../episodes/queues.ts';
import { type CardLine, showChange } from './show-channel-card.ts';

/** More replies at once would be noise: the line for the channel names the failures. */
const MAX_REPLIES = 1;

/**
 * Notes in the thread of an open failure that a person paused or removed its watch or guard. Safe to repeat.
 * @returns the open failures of these watches and guards, for the line that the channel gets
 */
export async function tellStopped(
  workspace: Workspace,
  schedules: readonly Schedule[],
  { user, verb, request }: { user: string; verb: 'pause' | 'remove'; request: string },
): Promise<Subject[]> {
  if (schedules.every(({ kind }) => kind !== 'watch' && kind !== 'guard')) return [];
  const rows = await episodeRecords(workspace.store).list();
  const open = rows.flatMap(({ id: key, doc }) => {
    const episode = failingNow(doc);
    const isStopped = episode !== undefined && schedules.some((one) => followsFailure(one, doc.subject));
    return isStopped && doc.subject.person === undefined ? [{ key, subject: doc.subject, episode }] : [];
  });
  const news: Omit<News, 'number'> = {
    kind: verb,
    name: `${verb} ${request}`,
    lines: [],
    requestedBy: user,
  };
  // A failure of an outage, or of a quiet channel, has no thread of its own.
  const hasThreads = open.every(({ episode }) => episode.rootRef?.ts);
  if (open.length <= MAX_REPLIES && hasThreads)
    for (const { key, episode } of open) await addNews(workspace, key, episode, news);
  return open.map(({ subject }) => subject);
}

/**
 * Tells a channel that a person made it quiet about a project or all, because an edit notifies nobody: in the thread of the
 * one open failure, else in that of the channel's card. Safe to repeat.
 */
export async function tellQuiet(workspace: Workspace, channel: string, quiet: Quiet): Promise<void> {
  const { until, requestedBy, requestId } = quiet;
  const rows = await listQuietFailures(workspace, channel, quiet);
  const open = rows.flatMap(({ id: key, doc }) => {
    const episode = failingNow(doc);
    return episode?.rootRef?.ts ? [{ key, episode }] : [];
  });
  const [only, ...others] = open;
  const name = `quiet ${requestId}`;
  if (only === undefined || others.length > 0)
    return addCardLine(workspace, channel, { name, message: quietNotice(quiet), isForChannel: true });
  const news = { kind: 'quiet', name, lines: [], requestedBy, until, isForChannel: true } as const;
  await addNews(workspace, only.key, only.episode, { ...news, lines: [] });
}

/** The quiet has begun, so a channel in which Deckhand may not post fails nothing. */
async function addCardLine(workspace: Workspace, channel: string, line: CardLine): Promise<void> {
  try {
    await showChange(workspace, channel, line);
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    logRefused(workspace, channel, error);
  }
}

async function addNews(
  { jobs, store }: Workspace,
  key: string,
  { id }: Episode,
  news: Omit<News, 'number'>,
): Promise<void> {
  await episodeRecords(store).update(key, (current) => {
    const episode = current?.episodes.find((one) => one.id === id);
    if (current === undefined || episode === undefined) return current;
    if (episode.replies.some(({ name }) => name === news.name)) return current;
    return changeEpisode(current, id, { replies: [...episode.replies, { ...news, number: 1 }] });
  });
  // This job only draws the failure.
  await jobs.send(EPISODE_JOBS, { key }, { key: `${key} ${news.name}` });
}
