import { deliver } from '../../cards/deliver.ts';
import { defined } from '../../core/json.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import {
  changeEpisode,
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
} from '../../records/episodes.ts';
import {
  AFTER_QUIET,
  KEPT_MS,
  type Member,
  makePlace,
  type Outage,
  outagePlaces,
  placeKey,
  updateOutage,
} from '../../records/outages.ts';
import { channelQuiets, findQuiet, isLasting, type Quiet } from '../../records/quiets.ts';
import { failureKey } from '../../records/shared-failures.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { afterQuietMessage } from '../../views/episodes/quiet-messages.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { drawQuiet, listQuietFailures, planEnd, removeQuiet } from './begin-quiet.ts';
import { markMembers, type OutageRef, readOutage } from './count-failures.ts';
import { planOutageMention } from './outage-mentions.ts';
import { QUIET_ENDS, type QuietEnd } from './queues.ts';
import { showOutage } from './show-outage.ts';

/** Pause after the last attempt. */
const AGAIN_MS = 10 * MINUTE_MS;

export const END_QUIET = defineJob({
  ...QUIET_ENDS,
  options: { concurrency: 20, attempts: 10, backoffMs: 15_000 },
  handle: (workspace, { data, signal }) => end(workspace, data, signal),
  // The failures of its time have no message before.
  onDeadLetter: async ({ clock, jobs }, data) => {
    const at = clock.now() + AGAIN_MS;
    await jobs.send(QUIET_ENDS, data, { key: `${data.channel} ${data.id} ${at}`, at });
  },
});

type Row = { id: string; doc: EpisodeRecord };

/** Ends a quiet once, and posts what happened meanwhile. Safe to repeat. */
async function end(workspace: Workspace, { channel, id, at }: QuietEnd, signal: AbortSignal): Promise<void> {
  const { clock, store } = workspace;
  await store.exclusive(`quiet ${channel}`, async () => {
    // The database starts jobs by its own clock, which may be ahead.
    const now = Math.max(clock.now(), at);
    const isOver = (one: Quiet): boolean =>
      one.id === id && one.endedAt === undefined && !isLasting(one, now);
    const doc = await channelQuiets(store).update(
      channel,
      (current) =>
        current && { quiets: current.quiets.map((one) => (isOver(one) ? { ...one, endedAt: now } : one)) },
    );
    const quiet = doc?.quiets.find((one) => one.id === id);
    if (doc === undefined || quiet?.endedAt === undefined) return;
    const lasting = doc.quiets.filter((one) => isLasting(one, now));
    const rows = await listQuietFailures(workspace, channel, quiet);
    // Another quiet may go on for some of them.
    const own = rows.filter(({ doc: { subject } }) => findQuiet(lasting, subject, now) === undefined);
    // Nothing can be posted in a channel that is gone.
    await undefinedOnSlackError(
      tell(workspace, channel, { ...quiet, endedAt: quiet.endedAt }, own, signal),
      'gone',
      'forbidden',
    );
    await removeQuiet(workspace, channel, id);
    await drawQuiet(workspace, channel, quiet, `quiet ${id} ended`);
    await workspace.planCard(channel);
  });
}

/** Posts one message about the time of a quiet, which is also the message of what still fails and has none. */
async function tell(
  workspace: Workspace,
  channel: string,
  quiet: Quiet & { endedAt: number },
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<void> {
  const { store } = workspace;
  const failed = countProjects(rows.filter(({ doc }) => doc.episodes.some((one) => hasFailed(one, quiet))));
  const recovered = countProjects(rows.filter(({ doc }) => hasRecovered(doc, quiet)));
  const id = `${AFTER_QUIET}${quiet.id} ${quiet.endedAt}`;
  const open = rows.flatMap(({ id: key, doc }) => {
    const episode = failingNow(doc);
    return episode === undefined ? [] : [{ key, subject: doc.subject, episode }];
  });
  if (failed === 0 && open.length === 0) return;
  const isOwn = ({ episode: { outage } }: (typeof open)[number]): boolean =>
    outage === undefined || outage.id === id;
  const members = open.filter(isOwn).map(
    ({ key, episode }): Member => ({
      key,
      episode: episode.id,
      ...(episode.rootRef === undefined ? {} : { hasOwn: true }),
    }),
  );
  const others = open.filter((one) => !isOwn(one)).flatMap(({ episode: { outage } }) => outage ?? []);
  const [first] = open.filter(isOwn);
  if (first !== undefined) {
    // The message of what one person is on is theirs.
    const [owner, ...others] = new Set(open.filter(isOwn).map(({ episode }) => episode.owner));
    const ref = await makeOutage(workspace, first.subject, {
      id,
      ...(others.length === 0 ? defined({ owner }) : {}),
      beganAt: quiet.endedAt,
      members,
      replies: [],
      quiet: { failed, recovered },
    });
    await showOutage(workspace, ref, { signal });
  } else {
    const outages = await listOutages(workspace, others);
    const message = afterQuietMessage({ failed, recovered }, outages);
    await deliver(workspace, { id, channel, message, signal });
  }
  for (const ref of new Map(others.map((one) => [one.id, one])).values())
    await restartMention(workspace, ref);
  // A kill may have come before they were marked.
  for (const { key, episode } of members)
    await episodeRecords(store).update(key, (current) =>
      changeEpisode(current, episode, { heldAt: undefined }),
    );
}

/** True if it failed while it was quiet. */
function hasFailed({ since, begins = [since], heldAt = 0, newsAt }: Episode, quiet: Quiet): boolean {
  if (heldAt > 0 && newsAt < quiet.since) return false;
  return heldAt >= quiet.since || begins.some((at) => at >= quiet.since);
}

function hasRecovered({ episodes }: EpisodeRecord, quiet: Quiet): boolean {
  const { ending, newsAt } = episodes.at(-1) ?? { newsAt: 0 };
  return ending?.kind === 'recovered' && newsAt >= quiet.since;
}

/** A project may have failing deployments and unreachable servers. */
function countProjects(rows: readonly Row[]): number {
  return new Set(rows.map(({ doc: { subject } }) => failureKey({ ...subject, kind: 'deployments' }))).size;
}

/** Stores an outage of what still fails. Safe to repeat. */
async function makeOutage(
  { clock, store }: Workspace,
  subject: EpisodeRecord['subject'],
  outage: Outage,
): Promise<OutageRef> {
  const begun = makePlace({ ...subject, isAfterQuiet: true });
  const place = placeKey(begun);
  await outagePlaces(store).update(
    place,
    (current = begun) =>
      current.outages.some(({ id }) => id === outage.id)
        ? current
        : { ...current, outages: [...current.outages, outage] },
    clock.now() + KEPT_MS,
  );
  await markMembers({ store }, place, outage);
  return { place, id: outage.id };
}

async function listOutages(workspace: Workspace, refs: readonly OutageRef[]) {
  const outages = new Map<
    string,
    { view: NonNullable<Awaited<ReturnType<typeof readOutage>>>['view']; link?: string | undefined }
  >();
  for (const ref of refs) {
    const state = outages.has(ref.id) ? undefined : await readOutage(workspace, ref);
    const { ts } = state?.outage.root ?? {};
    if (state !== undefined)
      outages.set(ref.id, {
        view: state.view,
        link: ts ? await workspace.home.permalink({ channel: state.place.channel, ts }) : undefined,
      });
  }
  return [...outages.values()].map(({ view, link }) => ({ ...view, link }));
}

/** Mentions for an outage that has its message count from the end of the quiet. */
async function restartMention(workspace: Workspace, ref: OutageRef): Promise<void> {
  const idleSince = workspace.clock.now();
  await updateOutage(workspace.store, ref, ({ restarts = 0 }) => ({
    idleSince,
    mentioned: [],
    restarts: restarts + 1,
  }));
  await planOutageMention(workspace, ref);
}

/** Sends the jobs that end the quiets of a channel, after they moved there. */
export async function planEnds(workspace: Workspace, channel: string): Promise<void> {
  const { quiets = [] } = (await channelQuiets(workspace.store).get(channel)) ?? {};
  for (const quiet of quiets) await planEnd(workspace, channel, quiet);
}
