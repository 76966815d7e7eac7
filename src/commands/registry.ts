import type { Settings } from '../config.ts';
import { link, me, unlink, whoami } from './accounts/identity.ts';
import { accounts, accountsDefault, connect, disconnect } from './accounts/keys.ts';
import { signup } from './accounts/signup.ts';
import { last } from './activity/last.ts';
import { activity, history } from './activity/list-activity.ts';
import { audit } from './admin/audit.ts';
import { createRolesCommand } from './admin/roles.ts';
import { settings } from './admin/settings.ts';
import { doctor } from './admin/show-doctor.ts';
import type { Command, CommandGroup } from './command.ts';
import { digestCommands } from './digests/digest.ts';
import { claim } from './episodes/claim.ts';
import { failing } from './episodes/failing.ts';
import { quiet } from './episodes/quiet.ts';
import { guardCommands } from './guards/guard.ts';
import { createHelp, start } from './help/help.ts';
import { integrationAdd } from './integrations/add-integration.ts';
import { integrationEdit } from './integrations/edit-integration.ts';
import { integrationList } from './integrations/list-integrations.ts';
import { integrationRemove } from './integrations/remove-integration.ts';
import { invoices, invoicesNotify } from './invoices/list-invoices.ts';
import { listAll } from './overview/list-all.ts';
import { deploy, projects, use } from './projects/list-projects.ts';
import { anyScheduleCommands } from './schedules/any-schedule.ts';
import { serverAdd } from './servers/add.ts';
import { beta, betaEnroll } from './servers/beta.ts';
import { hosting, hostingSync } from './servers/hosting.ts';
import { build, serverShow } from './servers/show.ts';
import { setupMove } from './setup/move.ts';
import { setup } from './setup/setup.ts';
import { test } from './test-access/test.ts';
import { unwatchMine, watchMine } from './watches/mine.ts';
import { watchCommands } from './watches/watch.ts';

/** The command of a bare slash word. */
export const START = start.name;

/** The commands that name no others, in the order of the help. */
const GROUPS: readonly CommandGroup[] = [
  {
    id: 'test',
    title: 'Test',
    summary: 'that repositories and servers can be reached',
    commands: [test, projects, serverShow, build, deploy],
  },
  {
    id: 'follow',
    title: 'Follow',
    summary: 'what is deployed, now or on a schedule',
    commands: [
      activity,
      last,
      history,
      failing,
      claim,
      quiet,
      ...digestCommands,
      ...guardCommands,
      ...watchCommands,
      watchMine,
      unwatchMine,
      ...anyScheduleCommands,
      listAll,
    ],
  },
  {
    id: 'set-up',
    title: 'Set up',
    summary: 'accounts, this channel, servers and integrations',
    commands: [
      connect,
      disconnect,
      accounts,
      accountsDefault,
      signup,
      whoami,
      me,
      link,
      unlink,
      setup,
      setupMove,
      use,
      settings,
      serverAdd,
      hosting,
      hostingSync,
      beta,
      betaEnroll,
      integrationList,
      integrationAdd,
      integrationEdit,
      integrationRemove,
    ],
  },
  {
    id: 'billing',
    title: 'Billing',
    verb: 'Read',
    summary: 'invoices, and get notices of them',
    commands: [invoices, invoicesNotify],
  },
];

/** Every command, in the order of the help. @param all the groups themselves, for help and roles */
function createGroups(all: () => readonly CommandGroup[]): readonly CommandGroup[] {
  return [
    ...GROUPS,
    {
      id: 'administer',
      title: 'Administer',
      summary: 'who may do what, and whether everything works',
      commands: [createRolesCommand(() => commandsIn(all())), audit, doctor, createHelp(all), start],
    },
  ];
}

function commandsIn(groups: readonly CommandGroup[]): readonly Command[] {
  return groups.flatMap(({ commands }) => commands);
}

/** The commands that the configuration allows. */
export function commandsFor(settings: Settings): readonly Command[] {
  const isAvailable = (command: Command): boolean => command.isAvailable?.(settings) ?? true;
  const groups: readonly CommandGroup[] = createGroups(() => groups).map((group) => ({
    ...group,
    commands: group.commands.filter(isAvailable),
  }));
  return commandsIn(groups);
}

/** All commands, for the documentation and the manifest. */
export function allCommands(): readonly Command[] {
  const groups: readonly CommandGroup[] = createGroups(() => groups);
  return commandsIn(groups);
}

/** The commands that the configuration allows, with their buttons, forms, menus and shortcuts. */
export type Registry = ReturnType<typeof createRegistry>;

export function createRegistry(commands: readonly Command[], start: string) {
  const actions = indexCommands(commands, (command) =>
    (command.actions ?? []).map((action) => [createKey(action.actionId, action.view), { action, command }]),
  );
  const submissions = indexCommands(commands, (command) =>
    (command.submissions ?? []).map((submission) => [submission.callbackId, { submission, command }]),
  );
  const sources = indexCommands(commands, (command) =>
    (command.optionSources ?? []).map((source) => [source.actionId, { source, command }]),
  );
  const shortcuts = indexCommands(commands, (command) =>
    (command.shortcuts ?? []).map((shortcut) => [shortcut.callbackId, { shortcut, command }]),
  );
  return {
    commands,
    /** Name of the command of a bare slash word. */
    start,
    /** `view`: `callback_id` of the element's modal. */
    action: (actionId: string, view?: string) =>
      actions.get(createKey(stripSuffix(actionId), view)) ?? actions.get(stripSuffix(actionId)),
    submission: (callbackId: string) => submissions.get(callbackId),
    optionSource: (actionId: string) => sources.get(stripSuffix(actionId)),
    shortcut: (callbackId: string) => shortcuts.get(callbackId),
  };
}

/** The part before `#`, which only distinguishes equal elements of a message. */
function stripSuffix(actionId: string): string {
  return actionId.split('#')[0] ?? actionId;
}

function createKey(actionId: string, view: string | undefined): string {
  return view === undefined ? actionId : `${view} ${actionId}`;
}

function indexCommands<T>(
  commands: readonly Command[],
  listEntries: (command: Command) => Array<[id: string, entry: T]>,
): Map<string, T> {
  const byId = new Map<string, T>();
  for (const [id, entry] of commands.flatMap(listEntries)) {
    if (byId.has(id)) throw new TypeError(`two handlers for ${id}`);
    byId.set(id, entry);
  }
  return byId;
}
