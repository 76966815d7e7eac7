import { defined } from '../../core/json.ts';
import {
  afterClick,
  changeEpisode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  judgeClick,
  type Subject,
  takeOver,
  type Verb,
} from '../../records/episodes.ts';
import { type Outage, type OutageNews, updateOutage } from '../../records/outages.ts';
import { changeTogether, putShared, readShared } from '../../records/shared-failures.ts';
import { listFailing } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { afterNews, showEpisodes } from './change-episodes.ts';
import { type OutageRef, readOutage } from './count-failures.ts';
import { EPISODE_JOBS } from './queues.ts';
import { showOutage } from './show-outage.ts';

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

/**
 * Assigns a person to an outage and to its failures that nobody has, removes them, or closes all of it. Safe to repeat.
 * @param drawnOwner the owner when Slack showed the button
 */
export async function changeOutageOwner(
  workspace: Workspace,
  { drawnOwner, ...drawnRef }: OutageRef & { drawnOwner: string | undefined },
  { user, verb }: { user: string; verb: Verb },
): Promise<Clicked> {
  const { clock, store } = workspace;
  const state = await readOutage(workspace, drawnRef);
  if (state === undefined || listFailing(state.view).length === 0) return { kind: 'over' };
  const ref = { place: state.key, id: drawnRef.id };
  const click = { user, verb, drawnOwner, now: clock.now() };
  const { owner } = (await updateOutage(store, ref, (outage) => afterOutageClick(outage, click))) ?? {};
  if (owner !== undefined && owner !== user) return { kind: 'lost', owner };
  // Its members plan another edit.
  await showOutage(workspace, ref, { isAll: true });
  for (const { key, episode: id } of state.outage.members) {
    const record = state.records.get(key);
    const open = record && failingNow(record);
    if (open?.id !== id) continue;
    const { owner: theirs } = open;
    const isMeant = verb === 'close' || theirs === (verb === 'release' ? user : theirs && drawnOwner);
    if (isMeant) await changeOwner(workspace, { key, id, drawnOwner: theirs }, { user, verb });
  }
  return { kind: 'done' };
}

/** Unchanged if another click won. Pure. */
function afterOutageClick(
  outage: Outage,
  { user, verb, drawnOwner, now }: { user: string; verb: Verb; drawnOwner: string | undefined; now: number },
): Outage {
  const { clicks = 0, replies } = outage;
  const won = judgeClick(outage, { user, verb, drawnOwner });
  if (won === undefined) return outage;
  const news: OutageNews = { name: `${verb} ${clicks + 1}`, kind: verb, requestedBy: user, ...won };
  const after = { ...outage, clicks: clicks + 1, replies: [...replies, news] };
  if (verb === 'release') return { ...after, owner: undefined, idleSince: now };
  return verb === 'claim' ? { ...after, owner: user, isWorse: undefined } : after;
}
