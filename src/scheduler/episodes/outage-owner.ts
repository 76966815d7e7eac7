import { failingNow, type Verb } from '../../records/episodes.ts';
import { changeOutage, type Outage, type OutageNews, outagePlaces } from '../../records/outages.ts';
import { listFailing } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { changeOwner } from './change-owner.ts';
import { type OutageRef, readOutage } from './count-failures.ts';
import { showOutage } from './show-outage.ts';

type OutageClicked = { kind: 'done' } | { kind: 'over' } | { kind: 'lost'; owner: string };

/**
 * Assigns a person to an outage and to its failures that nobody has, removes them, or closes all of it. Safe to repeat.
 * @param drawnOwner the owner when Slack showed the button
 */
export async function changeOutageOwner(
  workspace: Workspace,
  { drawnOwner, ...drawnRef }: OutageRef & { drawnOwner: string | undefined },
  { user, verb }: { user: string; verb: Verb },
): Promise<OutageClicked> {
  const { clock, store } = workspace;
  const state = await readOutage(workspace, drawnRef);
  if (state === undefined || listFailing(state.view).length === 0) return { kind: 'over' };
  const ref = { place: state.key, id: drawnRef.id };
  const place = await outagePlaces(store).update(ref.place, (current) => {
    const outage = current?.outages.find(({ id }) => id === ref.id);
    const click = { user, verb, drawnOwner, now: clock.now() };
    return outage === undefined ? current : changeOutage(current, ref.id, afterOutageClick(outage, click));
  });
  const { owner } = place?.outages.find(({ id }) => id === ref.id) ?? {};
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
  const { owner, clicks = 0, replies, isWorse = false } = outage;
  const next = verb === 'release' ? undefined : user;
  if (verb !== 'close' && owner === next && !(isWorse && verb === 'claim')) return outage;
  const isFree = owner === undefined || owner === user || (verb !== 'release' && owner === drawnOwner);
  if (!isFree) return outage;
  const isTaken = verb === 'claim' && owner !== undefined && owner !== user;
  const takenFrom = isTaken ? { takenFrom: owner } : {};
  const news: OutageNews = { name: `${verb} ${clicks + 1}`, kind: verb, requestedBy: user, ...takenFrom };
  const after = { ...outage, clicks: clicks + 1, replies: [...replies, news] };
  if (verb === 'release') return { ...after, owner: undefined, idleSince: now };
  return verb === 'claim' ? { ...after, owner: user, isWorse: undefined } : after;
}
