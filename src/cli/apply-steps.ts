import { isDeepStrictEqual } from 'node:util';
import type { ScheduleKind } from '../records/schedules.ts';
import { addNotices } from '../scheduler/invoices/notices.ts';
import { pauseSchedule, removeSchedules } from '../scheduler/schedules/lifecycle.ts';
import { whyNot } from '../scheduler/schedules/reconcile-schedules.ts';
import { addTimed, editTimed, SCHEDULE_TYPES } from '../scheduler/schedules/start.ts';
import { addWatch } from '../scheduler/watches/watches.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Configuration } from './configuration.ts';

/** One change. Carried out again it makes nothing new. */
export interface Step {
  /** `digest d7k2 changed: range`. */
  said: string;
  run(workspace: Workspace): Promise<void>;
}

type Entry<Key extends Exclude<keyof Configuration, 'workspace'>> = NonNullable<Configuration[Key]>;

/** How an entry of the file is made so, by what the commands use too. */
interface Section<E = unknown> {
  noun: string;
  /** Set for schedules. */
  kind?: ScheduleKind;
  add(workspace: Workspace, id: string, entry: E): Promise<unknown>;
  change(workspace: Workspace, id: string, entry: E): Promise<unknown>;
}

const ROLES: Section<Entry<'roles'>> = {
  noun: 'roles of',
  add: ({ roles, clock }, _, entry) => roles.set({ ...entry, setBy: '', setAt: clock.now() }),
  change: (workspace, id, entry) => ROLES.add(workspace, id, entry),
};

const CHANNELS: Section<Entry<'channels'>[string] | undefined> = {
  noun: 'settings of',
  add: ({ channels }, id, entry = {}) => channels.change(id, () => entry),
  change: (workspace, id, entry) => CHANNELS.add(workspace, id, entry),
};

const DIGESTS: Section<Entry<'digests'>[string]> = {
  noun: 'digest',
  kind: 'digest',
  add: (workspace, id, entry) =>
    addTimed(workspace, { ...entry, kind: 'digest', id, requestId: `apply ${id}` }),
  change: (workspace, id, entry) => editTimed(workspace, id, { ...entry, kind: 'digest' }),
};

const GUARDS: Section<Entry<'guards'>[string]> = {
  noun: 'guard',
  kind: 'guard',
  add: (workspace, id, entry) =>
    addTimed(workspace, { ...entry, kind: 'guard', id, requestId: `apply ${id}` }),
  change: (workspace, id, entry) => editTimed(workspace, id, { ...entry, kind: 'guard' }),
};

const WATCHES: Section<Entry<'watches'>[string]> = {
  noun: 'watch',
  kind: 'watch',
  add: (workspace, id, entry) => addWatch(workspace, { ...entry, id, requestId: `apply ${id}` }),
  async change(workspace, id, entry) {
    const { channel, account, setUpBy, mode, project, server, hours } = entry;
    const before = await workspace.schedules.get('watch', id);
    if (before?.channel === channel && before.account === account) {
      const choices = { setUpBy, mode, project, server, hours };
      await workspace.schedules.change(before, (watch) => ({ ...watch, ...choices }));
      return;
    }
    await remove(workspace, WATCHES, id);
    await WATCHES.add(workspace, id, entry);
  },
};

const NOTICES: Section<Entry<'notices'>[string]> = {
  noun: 'invoice notices',
  kind: 'invoices',
  add: (workspace, id, { setBy: setUpBy, ...place }) =>
    addNotices(workspace, { ...place, setUpBy, requestId: `apply ${id}` }),
  change: ({ schedules }, id, { setBy: setUpBy }) =>
    schedules.change({ kind: 'invoices', id }, (current) => ({ ...current, setUpBy })),
};

async function remove(workspace: Workspace, section: Section, id: string): Promise<unknown> {
  if (section.kind === undefined) return section.change(workspace, id, undefined);
  const schedule = await workspace.schedules.get(section.kind, id);
  return schedule && removeSchedules(workspace, [schedule], `apply ${id}`);
}

/** Without a word to its owner: it resumes by itself as soon as its account is connected. */
async function pauseUnlessServed(workspace: Workspace, { kind }: Section, id: string): Promise<void> {
  const schedule = kind && (await workspace.schedules.get(kind, id));
  if (kind === undefined || schedule === undefined) return;
  const why = await whyNot(
    workspace,
    schedule,
    await workspace.accounts.list(SCHEDULE_TYPES[kind].requester),
  );
  const at = workspace.clock.now();
  if (why !== undefined) await pauseSchedule(workspace, schedule, { kind: 'paused', ...why, at });
}

/** What has to change for the workspace to be as the file says; what is removed makes room first. */
export function stepsOf(wanted: Configuration, today: Configuration): Step[] {
  const rolesOf = ({ workspace, roles }: Configuration) => roles && { [workspace]: roles };
  return [
    ...sectionSteps(ROLES, rolesOf(wanted), rolesOf(today)),
    ...sectionSteps(CHANNELS, wanted.channels, today.channels),
    ...sectionSteps(DIGESTS, wanted.digests, today.digests),
    ...sectionSteps(GUARDS, wanted.guards, today.guards),
    ...sectionSteps(WATCHES, wanted.watches, today.watches),
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
