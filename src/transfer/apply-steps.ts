import { isDeepStrictEqual } from 'node:util';
import { billingChannels } from '../records/billing.ts';
import { ACTIVE } from '../records/schedules.ts';
import type { TimedSchedule } from '../records/timed-schedules.ts';
import { DIGESTS } from '../scheduler/digests/digest.ts';
import { GUARDS } from '../scheduler/guards/guard.ts';
import { addNotices, INVOICE_NOTICES } from '../scheduler/invoices/notices.ts';
import { pauseSchedule, removeSchedules, type ScheduleKind } from '../scheduler/schedules/lifecycle.ts';
import { whyNot } from '../scheduler/schedules/reconcile-schedules.ts';
import type { Choices, TimedKind } from '../scheduler/schedules/timed.ts';
import { changeWatch, WATCHES } from '../scheduler/watches/schedule.ts';
import { addWatch } from '../scheduler/watches/watch-service.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Configuration } from './configuration.ts';

/** One change. Carried out again it makes nothing new. */
export interface Step {
  /** `digest d7k2 changed: range`. */
  said: string;
  run(workspace: Workspace): Promise<void>;
}

type Entry<Key extends 'channels' | 'watches' | 'notices'> = NonNullable<Configuration[Key]>[string];

type Placed = Pick<TimedSchedule, 'channel' | 'setUpBy'>;

/** How an entry of the file is made so, by what the commands use too. */
interface Section<E = unknown> {
  noun: string;
  /** Of what is a schedule. */
  kind?: ScheduleKind;
  add(workspace: Workspace, id: string, entry: E): Promise<unknown>;
  change(workspace: Workspace, id: string, entry: E): Promise<unknown>;
}

const ROLES: Section<NonNullable<Configuration['roles']>> = {
  noun: 'roles of',
  add: ({ roles, clock }, _, entry) => roles.set({ ...entry, setBy: '', setAt: clock.now() }),
  change: (workspace, id, entry) => ROLES.add(workspace, id, entry),
};

const CHANNELS: Section<Entry<'channels'> | undefined> = {
  noun: 'settings of',
  add: ({ channels }, id, entry = {}) => channels.change(id, () => entry),
  change: (workspace, id, entry) => CHANNELS.add(workspace, id, entry),
};

/** Digests and guards. */
function timed<R extends TimedSchedule>(noun: string, kind: TimedKind<R>): Section<Choices<R> & Placed> {
  return {
    noun,
    kind,
    add: (workspace, id, entry) => kind.add(workspace, { ...entry, id, requestId: `apply ${id}` }),
    change: (workspace, id, entry) => kind.edit(workspace, id, entry),
  };
}

const WATCH_SECTION: Section<Entry<'watches'>> = {
  noun: 'watch',
  kind: WATCHES,
  add(workspace, id, { channel, account, ...choices }) {
    const made = { id, requestId: `apply ${id}`, setUpAt: workspace.clock.now(), state: ACTIVE };
    const watch = { ...choices, ...made };
    return addWatch(workspace, { channel, account, watch });
  },
  async change(workspace, id, entry) {
    const { channel, account, setUpBy, mode, project, server, hours } = entry;
    const choices = { setUpBy, mode, project, server, hours };
    const there = { id, channel, account };
    if (await changeWatch(workspace, there, (watch) => ({ ...watch, ...choices }))) return;
    await remove(workspace, WATCH_SECTION, id);
    await WATCH_SECTION.add(workspace, id, entry);
  },
};

const NOTICES: Section<Entry<'notices'>> = {
  noun: 'invoice notices',
  kind: INVOICE_NOTICES,
  add: (workspace, id, entry) => addNotices(workspace, { ...entry, requestId: `apply ${id}` }),
  change: ({ store }, id, { setBy }) =>
    billingChannels(store).update(id, (current) => current && { ...current, setBy }),
};

async function scheduleOf(workspace: Workspace, { kind }: Section, id: string) {
  return (await kind?.list(workspace))?.find((schedule) => schedule.id === id);
}

async function remove(workspace: Workspace, section: Section, id: string): Promise<unknown> {
  const schedule = await scheduleOf(workspace, section, id);
  if (section.kind === undefined) return section.change(workspace, id, undefined);
  return schedule && removeSchedules(workspace, section.kind, [schedule], `apply ${id}`);
}

/** Without a word to its owner: it resumes by itself as soon as its account is connected. */
async function pauseUnlessServed(workspace: Workspace, section: Section, id: string): Promise<void> {
  const schedule = await scheduleOf(workspace, section, id);
  if (section.kind === undefined || schedule === undefined) return;
  const { kind } = section;
  const why = await whyNot(workspace, kind, schedule, await workspace.accounts.list(kind.requester));
  const at = workspace.clock.now();
  if (why !== undefined) await pauseSchedule(workspace, kind, schedule, { kind: 'paused', ...why, at });
}

/** What has to change for the workspace to be as the file says; what is removed makes room first. */
export function stepsOf(wanted: Configuration, today: Configuration): Step[] {
  const rolesOf = ({ workspace, roles }: Configuration) => roles && { [workspace]: roles };
  return [
    ...sectionSteps(ROLES, rolesOf(wanted), rolesOf(today)),
    ...sectionSteps(CHANNELS, wanted.channels, today.channels),
    ...sectionSteps(timed('digest', DIGESTS), wanted.digests, today.digests),
    ...sectionSteps(timed('guard', GUARDS), wanted.guards, today.guards),
    ...sectionSteps(WATCH_SECTION, wanted.watches, today.watches),
    ...sectionSteps(NOTICES, wanted.notices, today.notices),
  ].toSorted((one, other) => Number(other.isRemoval) - Number(one.isRemoval));
}

type Entries = Readonly<Record<string, object>>;

function sectionSteps(
  section: Section,
  wanted: Entries | undefined,
  today: Entries = {},
): Array<Step & { isRemoval: boolean }> {
  if (wanted === undefined) return [];
  // Maps, because `constructor` is an id as well.
  const [old, next] = [today, wanted].map((entries) => new Map(Object.entries(entries)));
  return [...new Set([...Object.keys(today), ...Object.keys(wanted)])].flatMap((id) => {
    const [before, after] = [old?.get(id), next?.get(id)];
    const fields = differing(before, after);
    if (fields.length === 0) return [];
    const done =
      after === undefined ? 'removed' : before === undefined ? 'added' : `changed: ${fields.join(', ')}`;
    const said = `${section.noun} ${id} ${done}`;
    const run = async (workspace: Workspace): Promise<void> => {
      if (after === undefined) await remove(workspace, section, id);
      else if (before === undefined) await section.add(workspace, id, after);
      else await section.change(workspace, id, after);
      if (before === undefined) await pauseUnlessServed(workspace, section, id);
      await workspace.audit.record({ who: 'deckhand', what: 'apply', target: said, result: 'done' });
    };
    return [{ said, isRemoval: after === undefined, run }];
  });
}

function differing(one: object = {}, other: object = {}): string[] {
  const [a, b] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...a.keys(), ...b.keys()])].filter(
    (name) => !isDeepStrictEqual(a.get(name), b.get(name)),
  );
}
