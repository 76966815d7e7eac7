import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.ts';
import { type Episode, QUIET_MS, type Subject } from '../../records/episodes.ts';
import {
  KEPT_MS,
  type Member,
  type Outage,
  type OutageNews,
  outagePlaces,
  readMember,
  updateOutage,
} from '../../records/outages.ts';
import { createQuietFinder, type Quiet } from '../../records/quiets.ts';
import { listFailing, outageReply, outageRoot, type ShownOutage } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isFailing, type OutageRef, type Records, readOutage } from './count-failures.ts';
import { planOutageMention } from './outage-mentions.ts';
import { defineFailureJob } from './queues.ts';
import { showFailure } from './show-failure.ts';

export const OutageJob = z.object({ place: z.string(), id: z.string() });

/** Draws the message of an outage. */
export const SHOW_OUTAGE = defineFailureJob(
  { queue: 'outages', schema: OutageJob },
  (workspace, data, signal) => showOutage(workspace, data, { signal, isAll: true }),
);

/** Changes of so long are one edit. */
const EDIT_MS = 2_000;

/** Plans an edit of an outage, which shows all changes until then. */
async function planShow(
  { clock, jobs }: Workspace,
  { place, id }: OutageRef,
  at = Math.floor(clock.now() / EDIT_MS + 1) * EDIT_MS,
): Promise<void> {
  await jobs.send(SHOW_OUTAGE, { place, id }, { key: `${id} ${at}`, at });
}

/**
 * Posts the message of an outage, or plans its edit. Safe to repeat.
 * @param isAll true to edit it now
 * @throws SlackFailure
 */
export async function showOutage(
  workspace: Workspace,
  ref: OutageRef,
  { signal, isAll = false }: { signal?: AbortSignal | undefined; isAll?: boolean } = {},
): Promise<void> {
  const places = outagePlaces(workspace.store);
  const isPosted = async (): Promise<boolean> =>
    (await places.get(ref.place))?.outages.find(({ id }) => id === ref.id)?.root !== undefined;
  if (!isAll && (await isPosted())) return planShow(workspace, ref);
  await workspace.store.exclusive(`show ${ref.id}`, async () => {
    // Another failure of the outage may have posted it.
    if (!isAll && (await isPosted())) return planShow(workspace, ref);
    await draw(workspace, ref, signal);
  });
}

async function draw(workspace: Workspace, ref: OutageRef, signal: AbortSignal | undefined): Promise<void> {
  const now = workspace.clock.now();
  const findIts = await createQuietFinder(workspace.store, now);
  const isQuiet = (subject: Subject): boolean => findIts(subject) !== undefined;
  const state = await readOutage(workspace, ref, (outage, records) =>
    noteMembers(outage, records, { now, isQuiet }),
  );
  if (state === undefined || state.view.members.length === 0) return;
  const { key, place, outage } = state;
  const { channel, person } = place;
  if (person !== undefined && (await workspace.roles.excluded(person)) !== undefined) return;
  const silence = findCommonQuiet(state.view, findIts);
  const view = { ...(await addLinks(workspace, state.view)), silence };
  const isOver = listFailing(view).length === 0;
  const store = async (change: (present: Outage) => Partial<Outage>): Promise<void> => {
    const keptUntil = now + (isOver ? QUIET_MS : KEPT_MS);
    await updateOutage(workspace.store, { place: key, id: outage.id }, change, keptUntil);
  };
  await showFailure(workspace, {
    id: outage.id,
    channel,
    root: outageRoot(view),
    cause: `members ${outage.members.length} ${outage.restarts ?? 0}`,
    replies: outage.replies.map((news) => [news.name, outageReply(news, view.members), news.isForChannel]),
    rootRef: outage.root,
    save: (root) => store(() => ({ root })),
    signal,
  });
  const posted = new Set(outage.replies.map(({ name }) => name));
  await store(({ idleSince = now, toldAt = now, endedAt = now, replies }) => ({
    idleSince,
    toldAt,
    endedAt: isOver ? endedAt : undefined,
    replies: replies.filter(({ name }) => !posted.has(name)),
  }));
  if (view.untold) await planShow(workspace, ref, Math.max((outage.toldAt ?? now) + TOLD_MS, now + 1));
  if (!isOver) await planOutageMention(workspace, ref);
}

function findCommonQuiet(
  view: ShownOutage,
  findIts: (subject: Subject) => Quiet | undefined,
): Quiet | undefined {
  const [first, ...others] = listFailing(view).map(({ subject }) => findIts(subject));
  return others.every((one) => one?.id === first?.id) ? first : undefined;
}

/**
 * Tells the thread of an outage, and its channel, that servers joined the failure of a member. Mentions begin again. Safe to
 * repeat.
 * @param isTold true if the member's own message has told it
 */
export async function wakeOutage(
  { clock, store }: Workspace,
  { name, kind }: Subject,
  { id, outage, replies }: Episode,
  isTold: boolean,
): Promise<void> {
  const joining = replies.filter(
    ({ joined = [], isForChannel }) => isForChannel === true && joined.length > 0,
  );
  if (outage === undefined || joining.length === 0) return;
  const all = joining.map(
    ({ joined, number }): OutageNews => ({
      name: `servers ${id} ${number}`,
      kind: 'servers',
      project: { name, kind },
      joined,
      isForChannel: true,
    }),
  );
  await updateOutage(store, outage, (present) => {
    const isNew = ({ name }: OutageNews): boolean => !present.replies.some((one) => one.name === name);
    const added = isTold ? [] : all.filter(isNew);
    const { owner, mentioned = [], restarts = 0 } = present;
    const isAhead = owner === undefined && mentioned.length === 0;
    const mentions = { mentioned: [], idleSince: clock.now(), isWorse: true, restarts: restarts + 1 };
    return { replies: [...present.replies, ...added], ...(isAhead ? {} : mentions) };
  });
}

/** Members with a message of their own are linked to it. */
async function addLinks<S extends ShownOutage>({ home }: Workspace, view: S): Promise<S> {
  const members = view.members.map(async (member) => {
    const { outage, rootRef } = member.episode;
    if (outage?.hasOwn !== true || !rootRef?.ts) return member;
    return { ...member, link: await home.permalink({ channel: view.channel, ts: rootRef.ts }) };
  });
  return { ...view, members: await Promise.all(members) };
}

/** Minimum time between two replies about members. */
const TOLD_MS = MINUTE_MS;

/** How a member changed since its thread was told. */
function findChange(
  { toldState }: Member,
  state: 'failing' | 'ended',
): 'joined' | 'again' | 'ended' | undefined {
  if (state === (toldState ?? 'ended')) return undefined;
  if (state === 'ended') return 'ended';
  return toldState === undefined ? 'joined' : 'again';
}

/** Adds a reply about the members that fail or ended since the last one, at most once a minute. Pure. */
function noteMembers(
  outage: Outage,
  records: Records,
  { now, isQuiet }: { now: number; isQuiet: (subject: Subject) => boolean },
): Outage {
  const isFirst = outage.root === undefined;
  if (!isFirst && now < (outage.toldAt ?? 0) + TOLD_MS) return outage;
  const readAwake = (subject?: Subject) => (subject !== undefined && isQuiet(subject) ? undefined : subject);
  const names: Record<'joined' | 'again' | 'ended', string[]> = { joined: [], again: [], ended: [] };
  let isTold = true;
  const members = outage.members.map((member): Member => {
    const toldState = isFailing(records, member) ? 'failing' : 'ended';
    const name = readAwake(readMember(records, member)?.subject)?.name;
    const change = findChange(member, toldState);
    if (name !== undefined && change !== undefined) {
      names[change].push(name);
      // The channel hears of the others by their own messages.
      if (change === 'again' && member.hasOwn !== true) isTold = false;
    }
    return { ...member, toldState };
  });
  const isNews = Object.values(names).some(({ length }) => length > 0);
  if (isFirst || !isNews) return { ...outage, members };
  const isWaking = names.again.length > 0 && now - (outage.wokenAt ?? 0) >= HOUR_MS;
  const isForChannel = isWaking && !isTold;
  const news: OutageNews = { name: `members ${now}`, kind: 'members', ...names, isForChannel };
  const restarts = (outage.restarts ?? 0) + 1;
  return {
    ...outage,
    members,
    toldAt: now,
    replies: [...outage.replies, news],
    ...(isWaking ? { wokenAt: now, mentioned: [], idleSince: now, isWorse: true, restarts } : {}),
  };
}
