import { z } from 'zod';
import { findCadenceFault } from '../commands/schedules/cadence-words.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import {
  Digest,
  feedPlace,
  Guard,
  isSameSubject,
  type ScheduleKind,
  type TimedKind,
  type TimedSchedule,
  Watch,
} from '../records/schedules.ts';
import { addNotices } from '../scheduler/invoices/notices.ts';
import { MAX_IN_CHANNEL } from '../scheduler/schedules/lifecycle.ts';
import { addTimed, editTimed } from '../scheduler/schedules/start.ts';
import { addWatch, changeWatch } from '../scheduler/watches/watches.ts';
import type { Workspace } from '../workspace/workspace.ts';

type Path = readonly PropertyKey[];

/** A fault that no schema finds. An entry without a message is not a fault. */
export type Fault = [path: Path, message: string | false | undefined];

export const SlackId = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/, 'That is no id, as Slack gives it.');
const ShortId = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{1,19}$/,
    'An id has 2 to 20 small letters, digits and hyphens, and begins with a letter.',
  );

/** Fields of every entry. */
export interface Entry {
  channel: string;
  createdBy: string;
  account?: string | undefined;
  project?: ProjectRef | undefined;
}

/** The schedules of a kind in a file, and the functions of its commands that apply them. */
interface ScheduleSection<Name extends string = string, E extends Entry = Entry> {
  /** Its name in the file. */
  name: Name;
  ids: z.ZodString;
  entry: z.ZodType<E>;
  add(workspace: Workspace, id: string, entry: E): Promise<unknown>;
  /** Default: `add`. */
  change?(workspace: Workspace, id: string, entry: E): Promise<unknown>;
  /** Finds faults of the entries, by their paths in the section. */
  findFaults?(entries: ReadonlyArray<[id: string, entry: E]>): Fault[];
}

/** Keeps the types of a section together. */
function defineSection<const Name extends string, E extends Entry>(
  section: ScheduleSection<Name, E>,
): ScheduleSection<Name, E> {
  return section;
}

const Timed = { cadence: true, zone: true, account: true, project: true } as const;
const Ids = { channel: SlackId, createdBy: SlackId };
const Placed = z.object({ channel: SlackId, account: z.string(), createdBy: SlackId });

export const SCHEDULE_SECTIONS = {
  digest: defineSection({
    name: 'digests',
    ids: ShortId,
    entry: Digest.pick({ ...Timed, range: true, skipQuiet: true }).extend(Ids),
    add: (workspace, id, entry) =>
      addTimed(workspace, { ...entry, kind: 'digest', id, requestId: `apply ${id}` }),
    change: (workspace, id, entry) => editTimed(workspace, id, { ...entry, kind: 'digest' }),
    findFaults: (entries) => findCadenceFaults('digest', entries),
  }),
  guard: defineSection({
    name: 'guards',
    ids: ShortId,
    entry: Guard.pick({ ...Timed, escalation: true }).extend(Ids),
    add: (workspace, id, entry) =>
      addTimed(workspace, { ...entry, kind: 'guard', id, requestId: `apply ${id}` }),
    change: (workspace, id, entry) =>
      // The key is present even if the entry has none, so that the stored escalation is removed.
      editTimed(workspace, id, { ...entry, kind: 'guard', escalation: entry.escalation }),
    findFaults: (entries) => findCadenceFaults('guard', entries),
  }),
  watch: defineSection({
    name: 'watches',
    ids: ShortId,
    entry: Watch.pick({ project: true, server: true, mode: true, hours: true, escalation: true }).extend(
      Placed.shape,
    ),
    add: addWatchEntry,
    async change(workspace, id, entry) {
      const { channel, account, createdBy, mode, project, server, hours, escalation } = entry;
      const before = await workspace.schedules.get('watch', id);
      const choices = { createdBy, mode, project, server, hours, escalation };
      if (before?.channel === channel && before.account === account)
        return changeWatch(workspace, id, choices);
      // In one step, so that pushes of a project that stays watched go on.
      return addWatchEntry(workspace, id, entry);
    },
    findFaults: findTwins,
  }),
  invoices: defineSection({
    name: 'notices',
    /** Made by `feedPlace`. */
    ids: z.string(),
    entry: Placed,
    add: (workspace, id, entry) => addNotices(workspace, { ...entry, requestId: `apply ${id}` }),
    change: ({ schedules }, id, { createdBy }) =>
      schedules.change({ kind: 'invoices', id }, (current) => ({ ...current, createdBy })),
    findFaults: (entries) =>
      entries.map(([id, entry]) => {
        const name = feedPlace(entry);
        return [[id], id !== name && `Its name has to be ${name}.`];
      }),
  }),
} satisfies Record<ScheduleKind, ScheduleSection>;

export type SectionName = (typeof SCHEDULE_SECTIONS)[ScheduleKind]['name'];

/** All sections, in the order of the file. */
export const SECTIONS = Object.entries(SCHEDULE_SECTIONS).map(
  ([kind, section]): ScheduleSection<SectionName> & { kind: ScheduleKind } => ({
    ...section,
    kind: kind as ScheduleKind,
  }),
);

function addWatchEntry(
  workspace: Workspace,
  id: string,
  entry: Omit<Parameters<typeof addWatch>[1], 'id' | 'requestId'>,
): Promise<unknown> {
  return addWatch(workspace, { ...entry, id, requestId: `apply ${id}` });
}

function findCadenceFaults(
  kind: TimedKind,
  entries: ReadonlyArray<[string, Pick<TimedSchedule, 'cadence' | 'zone'>]>,
): Fault[] {
  return entries.map(([id, { cadence, zone }]) => [
    [id, 'cadence'],
    findCadenceFault(kind, cadence, zone, 0),
  ]);
}

/** A channel has one watch of a project and server. */
function findTwins(
  watches: ReadonlyArray<[string, Pick<Watch, 'channel' | 'account' | 'project' | 'server' | 'person'>]>,
): Fault[] {
  const groups = Map.groupBy(watches, ([, watch]) => feedPlace(watch));
  return [...groups.values()].flatMap((group) => {
    // A channel with more is refused anyway.
    const compared = group.slice(0, MAX_IN_CHANNEL + 1).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return compared.map(([id, watch], at): Fault => {
      const [twin] = compared.slice(0, at).find(([, other]) => isSameSubject(watch, other)) ?? [];
      return [[id], twin !== undefined && `It is the same watch as ${twin}.`];
    });
  });
}
