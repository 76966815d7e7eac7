import type { Role } from '../../../src/core/choices.ts';

/** The ways in that each role opens, by their kind. Written by hand, so that a changed role or a new way in is changed here too. */
const OPENED: Readonly<Record<Role, Readonly<Record<string, string>>>> = {
  member: {
    command: `
      test, projects, server show, build, deploy, activity, last, history, digest list, guard list, watch list, list all,
      failing, claim, quiet, watch mine, unwatch mine, connect, disconnect, accounts, whoami, me, link, unlink,
      hosting, beta, doctor, help, start
    `,
    action: `
      setup:all, test:project, test:again, test:server, test:pick, test:check, test:open, project test,
      account test, projects:choose, projects:page, server, activity:page, activity:share, list:page,
      watch:mute, failing:closed, connect:open, disconnect:choose, disconnect:confirm, me:name, me:claim, link:undo,
      beta:tell, help:group, access:ask, episode:claim, episode:release, episode:close, episode:quiet, quiet:end,
      failure:test, failure:log, failure:share-log, start:run,
      start:choose, start:at-once
    `,
    form: 'test, connect, episode.close',
    shortcut: 'test_access, test_from_message, connect_account',
    menu: 'projects:choose, server, zone, project',
    tool: 'projects, failing, test_access, latest_run, activity, statistics',
    step: 'test_access, deployment_statistics, list_projects, list_servers',
    mention: 'projects, digest list',
    unfurl: 'projects, server show',
    details: 'projects',
    home: '',
  },
  operator: {
    command: `
      pause, resume, digest add, digest edit, digest pause, digest resume, digest remove, digest preview, guard add,
      guard edit, guard pause, guard resume, guard run, guard remove, watch, watch edit, watch pause,
      watch resume, unwatch, setup, setup move, use, settings, server add, hosting sync, integration add,
      integration edit, integration list, integration remove
    `,
    action: `
      cadence digest.add, time digest.add, cron digest.add, zone digest.add, account digest.add,
      digest:edit, cadence digest.edit, time digest.edit, cron digest.edit, zone digest.edit,
      account digest.edit, digest:pause, digest:snooze, digest:resume, digest:remove,
      digest:undo, digest:preview, cadence guard.add, time guard.add, cron guard.add, zone guard.add,
      account guard.add, guard:edit, cadence guard.edit, time guard.edit, cron guard.edit,
      zone guard.edit, account guard.edit, guard:pause, guard:resume, guard:remove,
      guard:undo, setup:open, setup:move, account setup, watch:push, watch:edit, watch:pause, watch:resume, watch:remove,
      watch:undo, protocol_type, subdomain, server.add:back, server.add:check, hosting:sync,
      hook_type, properties.hook_version, integration:edit, integration, integration:remove,
      digest:ask, guard:ask, watch:ask, setup:show
    `,
    form: `
      digest.add, digest.edit, guard.add, guard.edit, watch.push, watch.edit, setup, setup.move, settings, server.add,
      integration.add, integration.edit, digest.remove, guard.remove, watch.remove
    `,
    menu: 'integration, projects',
  },
  billing: {
    command: 'invoices, invoices notify',
    action: `
      invoices:pdf, invoices:csv, invoices:pdfs, invoice, invoices:pause, invoices:resume, invoices:remove,
      invoices:undo, invoices:ask
    `,
    form: 'invoices.remove',
    menu: 'invoice',
    tool: 'invoices',
    mention: 'invoices',
  },
  admin: {
    command: 'accounts default, signup, beta enroll, roles, audit',
    action: 'signup:open, me:release, server.add:enroll, beta:enroll, access:allow, access:deny, audit:page',
    form: 'signup, roles',
    mention: 'audit',
  },
};

export const ROWS: Readonly<Record<string, Role>> = Object.fromEntries(
  (Object.keys(OPENED) as Role[]).flatMap((role) =>
    Object.entries(OPENED[role]).flatMap(([kind, names]) =>
      names.split(',').map((name) => [`${kind} ${name.trim()}`.trim(), role] as const),
    ),
  ),
);
