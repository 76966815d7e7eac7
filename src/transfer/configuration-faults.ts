import { allCommands } from '../commands/registry.ts';
import { faultOf } from '../commands/schedules/cadence-words.ts';
import { feedPlace, isSameSubject, type TimedSchedule } from '../records/schedules.ts';
import { MAX_IN_CHANNEL, MAX_IN_WORKSPACE } from '../scheduler/schedules/lifecycle.ts';
import { isAccountName } from '../service/addresses.ts';
import type { Configuration } from './configuration.ts';

type Timed = Pick<TimedSchedule, 'cadence' | 'zone'>;

/** What a schema cannot see: names that mean nothing, and what there may not be. */
export type Fault = [path: readonly PropertyKey[], message: string | false | undefined];

/** Those without a message are none. @param connected the accounts, by name */
export function faultsOf(wanted: Configuration, today: Configuration, connected: readonly string[]): Fault[] {
  const { roles, channels = {}, digests = {}, guards = {}, watches = {}, notices = {} } = wanted;
  const accounts = new Set([...connected, ...placesIn(today).map(({ entry }) => entry.account)]);
  const hasAdmin = roles === undefined || roles.admin.length + (roles.groups?.admin.length ?? 0) > 0;
  return [
    [['roles', 'admin'], !hasAdmin && 'Name somebody, or nobody could ever set the roles.'],
    ...Object.entries(channels).flatMap(([id, { commands }]): Fault[] => [
      [
        ['channels', id, 'commands'],
        commands?.length === 0 && 'Name the commands, or leave this out to allow all.',
      ],
      ...(commands ?? []).map((name, at): Fault => [['channels', id, 'commands', at], commandFault(name)]),
    ]),
    ...cadenceFaults('digest', digests),
    ...cadenceFaults('guard', guards),
    ...twinFaults(watches),
    ...Object.entries(notices).map(([id, entry]): Fault => {
      const right = feedPlace(entry);
      return [['notices', id], id !== right && `Its name has to be ${right}.`];
    }),
    // Where no account is connected yet, schedules wait for theirs.
    ...placesIn(wanted).map(({ path, entry: { account } }): Fault => {
      const isThere = connected.length === 0 ? isAccountName(account ?? 'any') : accounts.has(account);
      return [[...path, 'account'], account !== undefined && !isThere && `There is no account ${account}.`];
    }),
    ...roomFaults({ ...today, ...wanted }),
  ];
}

function cadenceFaults(noun: TimedSchedule['kind'], section: Readonly<Record<string, Timed>>): Fault[] {
  return Object.entries(section).map(([id, { cadence, zone }]) => [
    [`${noun}s`, id, 'cadence'],
    faultOf(noun, cadence, zone, 0),
  ]);
}

function commandFault(name: string): string | false {
  return !allCommands().some((command) => command.name === name) && `There is no command ${name}.`;
}

/** A channel has one watch of a project and server. */
function twinFaults(watches: NonNullable<Configuration['watches']>): Fault[] {
  const groups = Map.groupBy(Object.entries(watches), ([, { channel, account }]) => `${channel} ${account}`);
  return [...groups.values()].flatMap((group) => {
    // More are too many in any case.
    const compared = group.slice(0, MAX_IN_CHANNEL + 1).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return compared.map(([id, watch], at): Fault => {
      const [twin] = compared.slice(0, at).find(([, other]) => isSameSubject(watch, other)) ?? [];
      return [['watches', id], twin !== undefined && `It is the same watch as ${twin}.`];
    });
  });
}

/** Whatever may name an account. */
function placesIn({ channels = {}, digests = {}, guards = {}, watches = {}, notices = {} }: Configuration) {
  return Object.entries({ channels, digests, guards, watches, notices }).flatMap(([key, section]) =>
    Object.entries<{ channel?: string; account?: string | undefined }>(section).map(([id, entry]) => ({
      path: [key, id],
      entry,
    })),
  );
}

function roomFaults(after: Configuration): Fault[] {
  const channels = placesIn(after).flatMap(({ entry: { channel } }) => channel ?? []);
  const crowded = [...Map.groupBy(channels, (channel) => channel)].find(
    ([, all]) => all.length > MAX_IN_CHANNEL,
  );
  return [
    [
      ['workspace'],
      crowded &&
        `${crowded[0]} would have ${crowded[1].length} schedules, and ${MAX_IN_CHANNEL} is the most.`,
    ],
    [['workspace'], channels.length > MAX_IN_WORKSPACE && `${MAX_IN_WORKSPACE} schedules are the most.`],
  ];
}
