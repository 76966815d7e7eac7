import type { Settings } from '../core/settings.ts';
import { accounts } from './accounts/accounts.ts';
import { connect } from './accounts/connect.ts';
import { disconnect } from './accounts/disconnect.ts';
import { link, unlink } from './accounts/link.ts';
import { signup } from './accounts/signup.ts';
import { whoami } from './accounts/whoami.ts';
import { activity } from './activity/activity.ts';
import { audit } from './admin/audit.ts';
import { doctor } from './admin/doctor.ts';
import { createRolesCommand } from './admin/roles.ts';
import { settings } from './admin/settings.ts';
import type { Command } from './command.ts';
import { digestAdd } from './digests/add.ts';
import { digestEdit } from './digests/edit.ts';
import { digestList, digestPause, digestRemove, digestResume } from './digests/lifecycle.ts';
import { digestPreview } from './digests/preview.ts';
import { createHelp } from './help/help.ts';
import { start } from './help/start.ts';
import { integrationAdd } from './integrations/add.ts';
import { integrationEdit } from './integrations/edit.ts';
import { invoices } from './invoices/invoices.ts';
import { invoicesNotify } from './invoices/notify.ts';
import { projects } from './projects/projects.ts';
import { use } from './projects/use.ts';
import { serverAdd } from './servers/add.ts';
import { beta, betaEnroll } from './servers/beta.ts';
import { build } from './servers/build.ts';
import { hosting, hostingSync } from './servers/hosting.ts';
import { serverShow } from './servers/show.ts';
import { test } from './test-access/test.ts';
import { watchEdit } from './watches/edit.ts';
import { unwatch, watchList, watchPause, watchResume } from './watches/lifecycle.ts';
import { watch } from './watches/watch.ts';

/** What a bare slash word means. */
export const START = start.name;

/** Every command, in the order of the help. @param all what help and roles are about */
function commandsOf(all: () => readonly Command[]): readonly Command[] {
  return [
    createHelp(all),
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
    digestEdit,
    digestList,
    digestPause,
    digestResume,
    digestRemove,
    digestPreview,
    watch,
    watchEdit,
    watchList,
    watchPause,
    watchResume,
    unwatch,
    invoices,
    invoicesNotify,
    createRolesCommand(all),
    audit,
    doctor,
  ];
}

/** The commands that the configuration allows. */
export function commandsFor(settings: Settings): readonly Command[] {
  const commands: readonly Command[] = commandsOf(() => commands).filter(
    (command) => command.isAvailable?.(settings) ?? true,
  );
  return commands;
}

/** All of them, for the documentation and the manifest. */
export function allCommands(): readonly Command[] {
  const commands: readonly Command[] = commandsOf(() => commands);
  return commands;
}
