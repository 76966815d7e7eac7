import { defined } from '../../core/json.ts';
import {
  afterClick,
  changeEpisode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  type Subject,
  takeOver,
  type Verb,
} from '../../records/episodes.ts';
import { changeTogether, putShared, readShared } from '../../records/shared-failures.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { afterNews, showEpisodes } from './change-episodes.ts';
import { EPISODE_JOBS } from './queues.ts';

/** Result of a click. `over`: the episode had ended; `requestedBy` closed it. `lost`: another click won. */
type Clicked =
  | { kind: 'done' }
  | { kind: 'over'; requestedBy?: string | undefined }
  | { kind: 'lost'; owner: string };

/**
 * Assigns a person to a failure, removes them, or closes it. Of two clicks on the same message one wins. A
 * repeat after a kill changes nothing, and posts what Slack does not show yet.
 * @param key present key of its record
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
  const shownBy = after.ending === undefined ? [...others, key] : [];
  if (after !== episode)
    await putShared(store, subject, { shownBy, ...defined({ owner: after.owner }) }, now);
  // These jobs only draw the messages.
  for (const other of others)
    await jobs.send(EPISODE_JOBS, { key: other }, { key: `${other} ${id} ${after.clicks ?? 0}` });
  return changed;
}
