import { z } from 'zod';
import { isDirect } from '../core/message.ts';
import { isInScope, isSameProject, type ProjectRef, splitKey } from '../core/project-ref.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { Periods } from '../core/time/range.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { type EpisodeRecord, episodeRecords, failingNow, readOpen, Subject, subjectKey } from './episodes.ts';
import type { createSchedules, Guard, Watch } from './schedules.ts';

/** An ended failure of a project that a channel follows. */
export const Recovery = Subject.omit({ kind: true, person: true }).extend({
  /** Milliseconds since the epoch. */
  endedAt: z.number(),
  /** How long it took to recover, in milliseconds; undefined if it was closed. */
  tookMs: z.number().optional(),
});
type Recovery = z.infer<typeof Recovery>;

export const KEPT_MS = 400 * DAY_MS;

/** Keys begin with the time of the end, so that a query can read only the newest. */
function openRecoveries(store: WorkspaceStore): Collection<Recovery> {
  return store.collection('recoveries', Recovery);
}

function makeId({ endedAt, ...subject }: Recovery & Pick<Subject, 'kind'>): string {
  return `${String(Math.max(0, endedAt)).padStart(15, '0')} ${subjectKey(subject)}`;
}

/** Stores ended episodes. Safe to repeat. Skips a person's own failures, which are private. */
export async function keepRecoveries(
  store: WorkspaceStore,
  { subject, episodes }: EpisodeRecord,
): Promise<void> {
  const { kind: _, person, ...followed } = subject;
  if (person !== undefined) return;
  for (const { since, ending } of episodes) {
    if (ending === undefined) continue;
    const tookMs = ending.kind === 'recovered' ? Math.max(0, ending.at - since) : undefined;
    const id = makeId({ ...subject, endedAt: ending.at });
    await openRecoveries(store).put(id, { ...followed, endedAt: ending.at, tookMs }, ending.at + KEPT_MS);
  }
}

/**
 * Moves the recoveries that a channel has seen to another one. Safe to repeat, also after the first channel closed a failure that
 * goes on in the other one: that is no recovery.
 */
export async function moveRecoveries(store: WorkspaceStore, from: string, to: string): Promise<void> {
  const recoveries = openRecoveries(store);
  for (const recovery of await listSince(store, 0)) {
    if (recovery.channel !== from) continue;
    const moved = { ...recovery, channel: to };
    for (const kind of Subject.shape.kind.options) {
      const id = makeId({ kind, ...recovery });
      if ((await recoveries.get(id)) === undefined) continue;
      const there = await readOpen(store, subjectKey({ kind, ...moved }));
      if (there !== undefined && there.episode.since <= recovery.endedAt) continue;
      await recoveries.put(makeId({ kind, ...moved }), moved, recovery.endedAt + KEPT_MS);
      await recoveries.delete(id);
    }
  }
}

const PAGE = 500;

async function listSince(store: WorkspaceStore, from: number): Promise<Recovery[]> {
  const rows: Recovery[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await openRecoveries(store).latest(PAGE, { offset });
    rows.push(...page.map(({ doc }) => doc).filter(({ endedAt }) => endedAt >= from));
    if (page.length < PAGE || (page.at(-1)?.doc.endedAt ?? 0) < from) return rows;
  }
}

interface Figures {
  failures: number;
  medianMs: number | undefined;
  longestMs: number | undefined;
}

export interface RecoveryFigures extends Figures {
  account: string;
  name: string;
  /** Number of open failures. */
  open: number;
  /** Undefined if the channel began to follow the project too late. */
  before: Figures | undefined;
  /** In that case, the time when it began to follow it. */
  since: number | undefined;
}

function countFigures(recoveries: readonly Recovery[], open = 0): Figures {
  const times = recoveries.flatMap(({ tookMs }) => tookMs ?? []).toSorted((one, other) => one - other);
  const middle = times.slice(Math.ceil(times.length / 2) - 1, Math.floor(times.length / 2) + 1);
  const medianMs = times.length === 0 ? undefined : middle.reduce((sum, ms) => sum + ms, 0) / middle.length;
  return { failures: recoveries.length + open, medianMs, longestMs: times.at(-1) };
}

interface Target {
  account: string;
  project: ProjectRef;
}

interface RecoveryQuery {
  periods: Periods;
  /** Default: all projects that failed lately. */
  of?: Target;
  /** The preferred channel, if it follows the project. Otherwise the channel that has followed it longest. */
  channel?: string | undefined;
}

interface Parts {
  store: WorkspaceStore;
  schedules: Pick<ReturnType<typeof createSchedules>, 'all'>;
}

/** Number of failures of each followed project, and how fast it recovered. */
export async function readRecoveries(parts: Parts, query: RecoveryQuery): Promise<RecoveryFigures[]> {
  const { store, schedules } = parts;
  const { from, before } = query.periods;
  const [recoveries, episodes, all] = await Promise.all([
    listSince(store, before.from),
    episodeRecords(store).list(),
    schedules.all(),
  ]);
  const open = episodes.flatMap(({ doc }) => (failingNow(doc) === undefined ? [] : [doc.subject]));
  const followers = all.filter(
    (one): one is Guard | Watch => (one.kind === 'guard' || one.kind === 'watch') && !isDirect(one.channel),
  );
  const targets = query.of === undefined ? listTargets([...recoveries.toReversed(), ...open]) : [query.of];
  return targets.flatMap((target): RecoveryFigures[] => {
    const { account, project } = target;
    const own = followers
      .filter((one) => one.account === account && isInScope(one, project))
      .toSorted((one, other) => one.createdAt - other.createdAt);
    const first = own.find((one) => one.channel === query.channel) ?? own[0];
    if (first === undefined) return [];
    const isHere = (one: Followed): boolean =>
      one.channel === first.channel && one.account === account && isSameProject(splitKey(one), project);
    // An earlier watch may have left recoveries, with a gap of unknown length after them.
    const here = recoveries.filter((one) => isHere(one) && one.endedAt >= first.createdAt);
    const ongoing = open.filter(isHere).length;
    const isKnown = first.createdAt <= before.from;
    const earlier = here.filter(({ endedAt }) => endedAt < before.to);
    return [
      {
        account,
        name: own.find((one) => one.project !== undefined)?.project?.name ?? project.name,
        open: ongoing,
        ...countFigures(
          here.filter(({ endedAt }) => endedAt >= from),
          ongoing,
        ),
        before: isKnown ? countFigures(earlier) : undefined,
        since: isKnown ? undefined : first.createdAt,
      },
    ];
  });
}

type Followed = Pick<Recovery, 'account' | 'channel' | 'project' | 'permalink' | 'name'>;

/** One target for each project, by its latest name. */
function listTargets(failures: readonly Followed[]): Target[] {
  const latest = new Map(failures.map((one) => [`${one.account} ${one.project}`, one]));
  return [...latest.values()].map((one) => ({
    account: one.account,
    project: { ...splitKey(one), name: one.name },
  }));
}
