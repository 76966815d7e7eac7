import type { Config } from '../config.ts';
import { accounts } from './accounts.ts';
import { activity } from './activity.ts';
import { audit } from './audit.ts';
import { beta } from './beta.ts';
import { betaEnroll } from './beta-enroll.ts';
import { build } from './build.ts';
import type { Command } from './command.ts';
import { connect } from './connect.ts';
import { digestAdd } from './digest-add.ts';
import { digestPause, digestRemove, digestResume } from './digest-changes.ts';
import { digestList } from './digest-list.ts';
import { digestPreview } from './digest-preview.ts';
import { disconnect } from './disconnect.ts';
import { doctor } from './doctor.ts';
import { createHelp } from './help.ts';
import { hosting } from './hosting.ts';
import { hostingSync } from './hosting-sync.ts';
import { integrationAdd } from './integration-add.ts';
import { integrationEdit } from './integration-edit.ts';
import { invoices } from './invoices.ts';
import { invoicesNotify } from './invoices-notify.ts';
import { link } from './link.ts';
import { projects } from './projects.ts';
import { createRolesCommand } from './roles.ts';
import { serverAdd } from './server-add.ts';
import { serverShow } from './server-show.ts';
import { settings } from './settings.ts';
import { signup } from './signup.ts';
import { start } from './start.ts';
import { test } from './test.ts';
import { unlink } from './unlink.ts';
import { use } from './use.ts';
import { watch } from './watch.ts';
import { unwatch, watchPause, watchResume } from './watch-changes.ts';
import { watchList } from './watch-list.ts';
import { whoami } from './whoami.ts';

/** What a bare slash word means. */
export const START = start.name;

/** Every command, in the order of the help. */
const ALL: readonly Command[] = [
  start,
  connect,
  disconnect,
  accounts,
  use,
  settings,
  signup,
  whoami,
  link,
  unlink,
  projects,
  test,
  serverShow,
  serverAdd,
  hosting,
  hostingSync,
  beta,
  betaEnroll,
  build,
  integrationAdd,
  integrationEdit,
  activity,
  digestAdd,
  digestList,
  digestPause,
  digestResume,
  digestRemove,
  digestPreview,
  watch,
  watchList,
  watchPause,
  watchResume,
  unwatch,
  invoices,
  invoicesNotify,
  createRolesCommand(() => ALL),
  audit,
  doctor,
];

/** The commands that the configuration allows. */
export function commandsFor(config: Config): readonly Command[] {
  const help: Command = createHelp(() => commands);
  const commands = [help, ...ALL].filter((command) => command.isAvailable?.(config) ?? true);
  return commands;
}

/** All of them, for the documentation and the manifest. */
export function allCommands(): readonly Command[] {
  return [createHelp(() => ALL), ...ALL];
}
