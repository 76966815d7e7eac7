import { z } from 'zod';
import { addOutcome, NO_OUTCOMES, type OutcomeCounts } from './figures.ts';
import { ItemChange } from './reachability.ts';
import { LiveBefore } from './standings.ts';

/** An event of the service, once, however often the feed repeats it. Foreign text. */
export const Entry = z.object({
  /** The mark that `identifyEvent` makes. */
  mark: z.string(),
  /** Milliseconds since the epoch. Never later than `readAt`: a date in the future is no reason to wait. */
  at: z.number(),
  readAt: z.number(),
  event: z.string(),
  /** The key that `identifyProject` makes. */
  project: z.string(),
  /** The project's name at that time. */
  name: z.string().optional(),
  /** Its permalink, unless that is the key. */
  permalink: z.string().optional(),
  ref: z.string().optional(),
  servers: z.array(z.string()).optional(),
  user: z.string().optional(),
  /** When its revision was live before. */
  back: LiveBefore.optional(),
  /** In place of an event of the service: a test found this part of the project changed. */
  test: ItemChange.optional(),
});
export interface Entry extends z.infer<typeof Entry> {}

/** An entry with its number in the account's ledger. */
export interface NumberedEntry extends Entry {
  number: number;
}

const Numbers = z.array(z.number());

/** Entries as columns, which are a third as long as objects, and read in a third of the time. */
export const Columns = z.compile(
  z.object({
    /** Each text of the columns below once, which hold its place here, or -1. */
    texts: z.array(z.string()),
    mark: z.array(z.string()),
    /** Each less the one before, as shorter numbers. */
    at: Numbers,
    /** Each less `at`. */
    readAt: Numbers,
    event: Numbers,
    project: Numbers,
    name: Numbers,
    permalink: Numbers,
    ref: Numbers,
    user: Numbers,
    /** Places in `lists`, or -1. */
    servers: Numbers,
    lists: z.array(Numbers),
    /** The other fields of a few entries. */
    more: z.array(Entry.pick({ back: true, test: true }).extend({ row: z.number() })),
  }),
);
export interface Columns extends z.infer<typeof Columns> {}

export function toColumns(entries: readonly Entry[]): Columns {
  const places = new Map<string, number>();
  const place = (text: string | undefined): number => {
    if (text === undefined) return -1;
    const at = places.get(text) ?? places.size;
    places.set(text, at);
    return at;
  };
  const lists: number[][] = [];
  const listPlaces = new Map<string, number>();
  const placeList = (servers: readonly string[] | undefined): number => {
    if (servers === undefined) return -1;
    const list = servers.map(place);
    const key = list.join();
    const at = listPlaces.get(key) ?? lists.push(list) - 1;
    listPlaces.set(key, at);
    return at;
  };
  return {
    mark: entries.map(({ mark }) => mark),
    at: entries.map(({ at }, row) => at - (entries[row - 1]?.at ?? 0)),
    readAt: entries.map(({ readAt, at }) => readAt - at),
    event: entries.map(({ event }) => place(event)),
    project: entries.map(({ project }) => place(project)),
    name: entries.map(({ name }) => place(name)),
    permalink: entries.map(({ permalink }) => place(permalink)),
    ref: entries.map(({ ref }) => place(ref)),
    user: entries.map(({ user }) => place(user)),
    servers: entries.map(({ servers }) => placeList(servers)),
    lists,
    more: entries.flatMap(({ back, test }, row) => (back || test ? [{ row, back, test }] : [])),
    texts: [...places.keys()],
  };
}

export interface EntryFilter {
  /** Milliseconds since the epoch. */
  from: number;
  /** Number of the first entry that counts whatever its time. */
  number: number;
  /** Keys of a project; undefined for all. */
  projects?: readonly string[] | undefined;
  /** A time before `from` whose entries are only counted, which costs a fraction. Milliseconds since the epoch. */
  counted?: { from: number; to: number } | undefined;
}

/**
 * The entries that a filter lets through.
 * @param first number of the first one
 * @param counts counts on with the outcomes of the entries that are only counted
 */
export function readColumns(
  columns: Columns,
  first: number,
  filter?: EntryFilter,
  counts: OutcomeCounts = { ...NO_OUTCOMES },
): NumberedEntry[] {
  const { texts, mark: marks, project: projects } = columns;
  const keys = filter?.projects?.map((key) => texts.indexOf(key)).filter((key) => key >= 0);
  const entries: NumberedEntry[] = [];
  if (keys?.length === 0) return entries;
  const more = new Map(columns.more.map((one) => [one.row, one]));
  const servers = columns.lists.map((list) => list.map((place) => texts[place] ?? ''));
  let at = 0;
  for (const row of marks.keys()) {
    at += columns.at[row] ?? 0;
    const number = first + row;
    if (keys !== undefined && !keys.includes(projects[row] ?? -1)) continue;
    if (isCounted(at, filter)) addOutcome(counts, readText(columns, columns.event[row]) ?? '');
    if (filter === undefined || at >= filter.from || number >= filter.number)
      entries.push(readRow(columns, row, { number, at, servers, more: more.get(row) }));
  }
  return entries;
}

function isCounted(at: number, filter: EntryFilter | undefined): boolean {
  const counted = filter?.counted;
  return counted !== undefined && at >= counted.from && at < counted.to;
}

function readText({ texts }: Columns, place: number | undefined): string | undefined {
  return texts[place ?? -1];
}

interface RowParts extends Pick<NumberedEntry, 'number' | 'at'> {
  /** The lists of servers of all rows. */
  servers: string[][];
  more: Columns['more'][number] | undefined;
}

function readRow(columns: Columns, row: number, { number, at, servers, more }: RowParts): NumberedEntry {
  const { mark, readAt, event, project, name, permalink, ref, servers: lists, user } = columns;
  return {
    number,
    at,
    back: more?.back,
    test: more?.test,
    mark: mark[row] ?? '',
    readAt: at + (readAt[row] ?? 0),
    event: readText(columns, event[row]) ?? '',
    project: readText(columns, project[row]) ?? '',
    name: readText(columns, name[row]),
    permalink: readText(columns, permalink[row]),
    ref: readText(columns, ref[row]),
    servers: servers[lists[row] ?? -1],
    user: readText(columns, user[row]),
  };
}
