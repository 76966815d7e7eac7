import { z } from 'zod';
import { findCadenceFault } from '../commands/schedules/cadence-words.ts';
import { isPattern } from '../core/names.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import {
  feedPlace,
  isSameSubject,
  type ScheduleKind,
  type TimedKind,
  type TimedSchedule,
  type Watch,
} from '../records/schedules.ts';
import { MAX_IN_CHANNEL } from '../scheduler/schedules/pause-schedule.ts';
import { DigestEntry, GuardEntry, NoticesEntry, WatchEntry } from '../scheduler/setup/schedule-entries.ts';

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

/** The schedules of a kind in a file. */
interface ScheduleSection<Name extends string = string, E extends Entry = Entry> {
  /** Its name in the file. */
  name: Name;
  ids: z.ZodString;
  entry: z.ZodType<E>;
  /** Finds faults of the entries, by their paths in the section. */
  findFaults?(entries: ReadonlyArray<[id: string, entry: E]>): Fault[];
}

/** Keeps the types of a section together. */
function defineSection<const Name extends string, E extends Entry>(
  section: ScheduleSection<Name, E>,
): ScheduleSection<Name, E> {
  return section;
}

const Ids = { channel: SlackId, createdBy: SlackId };

export const SCHEDULE_SECTIONS = {
  digest: defineSection({
    name: 'digests',
    ids: ShortId,
    entry: DigestEntry.extend(Ids),
    findFaults: (entries) => findCadenceFaults('digest', entries),
  }),
  guard: defineSection({
    name: 'guards',
    ids: ShortId,
    entry: GuardEntry.extend(Ids),
    findFaults: (entries) => findCadenceFaults('guard', entries),
  }),
  watch: defineSection({
    name: 'watches',
    ids: ShortId,
    entry: WatchEntry.extend(Ids),
    findFaults: (entries) => [...findTwins(entries), ...findScopeFaults(entries)],
  }),
  invoices: defineSection({
    name: 'notices',
    /** Made by `feedPlace`. */
    ids: z.string(),
    entry: NoticesEntry.extend(Ids),
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

function findCadenceFaults(
  kind: TimedKind,
  entries: ReadonlyArray<[string, Pick<TimedSchedule, 'cadence' | 'zone'>]>,
): Fault[] {
  return entries.map(([id, { cadence, zone }]) => [
    [id, 'cadence'],
    findCadenceFault(kind, cadence, zone, 0),
  ]);
}

function findScopeFaults(watches: ReadonlyArray<[string, Pick<Watch, 'project' | 'pattern'>]>): Fault[] {
  return watches.map(([id, { project, pattern = '*' }]) => [
    [id, 'pattern'],
    project === undefined
      ? !isPattern(pattern) && 'Put a star where any text may stand, e.g. shop-*.'
      : pattern !== '*' && 'A watch has a project or a pattern, not both.',
  ]);
}

/** A channel has one watch of a project and server. */
function findTwins(
  watches: ReadonlyArray<
    [string, Pick<Watch, 'channel' | 'account' | 'project' | 'pattern' | 'server' | 'person'>]
  >,
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
