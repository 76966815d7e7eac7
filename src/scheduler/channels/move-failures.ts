import type { ChannelMove } from '../../records/channels.ts';
import {
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  subjectKey,
} from '../../records/episodes.ts';
import { AFTER_QUIET, placeKey } from '../../records/outages.ts';
import { changeTogether, noteShown, readShared } from '../../records/shared-failures.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { EPISODE_JOBS } from '../episodes/queues.ts';
import { moveOutages, renameEpisode, renameOutage } from './move-outages.ts';

/**
 * Moves the failures that a channel shows. In another channel an open one gets a new message, and the old message ends with the
 * next review. Safe to repeat.
 */
export async function moveFailures(workspace: Workspace, move: ChannelMove): Promise<void> {
  const { jobs, store } = workspace;
  await moveOutages(workspace, move);
  for (const { id: before, doc } of await episodeRecords(store).list()) {
    if (doc.subject.channel !== move.from || doc.subject.person !== undefined) continue;
    const key = subjectKey({ ...doc.subject, channel: move.to });
    // The message is not drawn while it moves.
    if (move.isSameChannel)
      await store.exclusive(`episode ${before}`, () => moveRecord(workspace, move, { before, key }));
    else if (failingNow(doc) !== undefined) await moveRecord(workspace, move, { before, key });
    else continue;
    await jobs.send(EPISODE_JOBS, { key }, { key: `${key} moved` });
  }
}

async function moveRecord(
  { clock, store }: Workspace,
  move: ChannelMove,
  { before, key }: { before: string; key: string },
): Promise<void> {
  const { to, isSameChannel } = move;
  const records = episodeRecords(store);
  const subject = (await records.get(before))?.subject;
  if (subject === undefined) return;
  await changeTogether(store, subject, async () => {
    const record = await records.get(before);
    if (record === undefined) return;
    await records.update(key, (current) => {
      // The other channel may show the failure itself.
      if (current !== undefined && failingNow(current) !== undefined) return current;
      return {
        ...record,
        subject: { ...subject, channel: to },
        episodes: moveEpisodes(record, key, move),
      };
    });
    const isShown = failingNow(record) !== undefined;
    const shared = await readShared(store, subject);
    await noteShown(store, subject, shared, { key, isShown, now: clock.now() });
    if (!isSameChannel) return;
    const others = await readShared(store, subject);
    await noteShown(store, subject, others, { key: before, isShown: false, now: clock.now() });
    await records.delete(before);
  });
}

function moveEpisodes({ subject, ...record }: EpisodeRecord, key: string, move: ChannelMove): Episode[] {
  const findPlace = (outage: string): string =>
    placeKey({ ...subject, channel: move.to, isAfterQuiet: outage.startsWith(AFTER_QUIET) });
  const changeOutage = ({ outage, ...episode }: Episode): Episode =>
    outage === undefined
      ? episode
      : { ...episode, outage: { ...outage, place: findPlace(outage.id), id: renameOutage(outage.id, move) } };
  if (move.isSameChannel) return record.episodes.map(changeOutage);
  const open = failingNow({ subject, ...record });
  if (open === undefined) return [];
  const { rootRef: _, idleSince: __, ...episode } = changeOutage(open);
  const { outage } = episode;
  return [
    {
      ...episode,
      ...(outage === undefined ? {} : { outage: { place: outage.place, id: outage.id } }),
      id: renameEpisode(open.id, key, move),
      replies: [],
    },
  ];
}
