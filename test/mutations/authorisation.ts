import type { Mutation } from './mutation.ts';

const PIPELINE = 'src/listeners/pipeline/pipeline.ts';
const PERMISSION = 'src/commands/permission.ts';
const PEOPLE = 'src/workspace/slack-people.ts';
const ROLES = 'src/workspace/roles.ts';
const UNFURL = 'src/commands/unfurls/unfurl.ts';
const KEYS = 'src/records/account-keys.ts';
const DOORS = 'test/listeners/doors.test.ts';
const KEYS_TEST = 'test/commands/accounts/keys.test.ts';
const PEOPLE_TEST = 'test/listeners/people.test.ts';
const UNFURL_TEST = 'test/commands/unfurls/unfurl.test.ts';

/** Who may do what, where, with whose key, and what is written down of it. */
export const AUTHORISATION: readonly Mutation[] = [
  {
    name: 'forms ignore the restrictions of a channel',
    file: PIPELINE,
    from: 'const channels = [caller.channel, actsIn ?? caller.channel];',
    to: "const channels = asked.kind === 'form' ? [] : [caller.channel, actsIn ?? caller.channel];",
    tests: [DOORS],
    only: 'restriction',
  },
  {
    name: 'a restriction counts where a form was opened, and not where it acts',
    file: PIPELINE,
    from: '[caller.channel, actsIn ?? caller.channel]',
    to: '[caller.channel]',
    tests: [DOORS],
    only: 'restriction',
  },
  {
    name: 'a schedule is changed although its own channel does not allow it',
    file: 'src/commands/schedules/lifecycle.ts',
    from: `await expectAllowedThere(feature, context, schedule, command);
  const changed`,
    to: 'const changed',
    tests: ['test/listeners/doors.test.ts'],
    only: 'its schedules',
  },
  {
    name: 'a removed schedule comes back although its own channel does not allow it',
    file: 'src/scheduler/schedules/lifecycle.ts',
    from: 'if (removal.channel !== undefined) await expectAllowed({ channel: removal.channel });',
    to: '',
    tests: ['test/listeners/doors.test.ts'],
    only: 'was removed from elsewhere',
  },
  {
    name: 'a channel’s restriction is not looked up',
    file: PERMISSION,
    from: 'if (commands === undefined || commands.includes(command) || isAlwaysAllowed(command)) continue;',
    to: 'if (commands !== null) continue;',
    tests: ['test/commands/admin/roles.test.ts'],
  },
  {
    name: 'forms need no permission',
    file: PIPELINE,
    from: 'form: [instrument, explain, authorise, once, audit],',
    to: 'form: [instrument, explain, once, audit],',
    tests: ['test/commands/admin/roles.test.ts'],
  },
  {
    name: 'buttons need no permission',
    file: PIPELINE,
    from: 'action: [instrument, explain, respond, progress, authorise, once, audit],',
    to: 'action: [instrument, explain, respond, progress, once, audit],',
    tests: ['test/listeners/permissions.test.ts'],
  },
  {
    name: 'menus need no permission',
    file: PIPELINE,
    from: 'options: [explain, authorise],',
    to: 'options: [explain],',
    tests: [PEOPLE_TEST, 'test/commands/option-sources.test.ts', 'test/listeners/permissions.test.ts'],
  },
  {
    name: 'workflow steps need no permission',
    file: PIPELINE,
    from: 'step: [instrument, explain, respond, authorise, audit],',
    to: 'step: [instrument, explain, respond, audit],',
    tests: ['test/commands/workflows/steps.test.ts'],
  },
  {
    name: 'commands need no permission',
    file: PIPELINE,
    from: 'command: [instrument, explain, respond, progress, authorise, account, audit],',
    to: 'command: [instrument, explain, respond, progress, account, audit],',
    tests: ['test/listeners/mentions.test.ts'],
    only: 'nothing that the channel does not allow',
  },
  {
    name: 'shortcuts need no permission',
    file: PIPELINE,
    from: 'shortcut: [instrument, explain, respond, progress, authorise, audit],',
    to: 'shortcut: [instrument, explain, respond, progress, audit],',
    tests: [PEOPLE_TEST],
    only: 'a person of another company is refused',
  },
  {
    name: 'the assistant’s tools need no permission',
    file: PIPELINE,
    from: 'tool: [instrument, explain, authorise, audit],',
    to: 'tool: [instrument, explain, audit],',
    tests: ['test/listeners/mcp.test.ts'],
    only: 'nothing that the channel does not allow',
  },
  {
    name: 'no role is asked for',
    file: PERMISSION,
    from: 'if (role !== undefined && !(await rules.roles.holds(user, role))) return',
    to: 'if (role === null) return',
    tests: ['test/listeners/permissions.test.ts'],
  },
  {
    name: 'strangers of a shared channel are members',
    file: PEOPLE,
    from: "if (person.is_stranger || !(await isOurs(person))) return 'stranger';",
    to: 'void isOurs;',
    tests: [PEOPLE_TEST],
  },
  {
    name: 'a person of another workspace is a member where Slack does not call them a stranger',
    file: PEOPLE,
    from: 'if (person.is_stranger || !(await isOurs(person)))',
    to: 'if (person.is_stranger)',
    tests: [PEOPLE_TEST],
  },
  {
    name: 'guests of a single channel are members without an admin’s consent',
    file: PEOPLE,
    from: "return person.is_ultra_restricted ? 'guest' : 'member';",
    to: "return 'member';",
    tests: [PEOPLE_TEST],
  },
  {
    name: 'people who left and bots are members',
    file: PEOPLE,
    from: "if (person.deleted || person.is_bot) return 'inactive';",
    to: '',
    tests: [UNFURL_TEST],
  },
  {
    name: 'Slack’s own admins stay admins after others were named',
    file: ROLES,
    from: '(isAdmin) => isAdmin && isOrphaned(grants)',
    to: '(isAdmin) => isAdmin || isOrphaned(grants)',
    tests: ['test/commands/admin/roles.test.ts'],
  },
  {
    name: 'an operator’s role opens what is for billing',
    file: ROLES,
    from: 'if (grants[role].includes(user)) return true;',
    to: "if (grants[role].includes(user) || grants.operator.includes(user)) return role !== 'admin';",
    tests: ['test/commands/admin/roles.test.ts', 'test/commands/invoices/invoices.test.ts'],
  },
  {
    name: 'links are unfurled for people who left, bots and strangers',
    file: UNFURL,
    from: "if (!(await isMember(workspace, event.user))) return skipped(workspace, 'no member');",
    to: 'void isMember;',
    tests: [UNFURL_TEST],
  },
  {
    name: 'the pane of a work object is filled for everybody',
    file: PIPELINE,
    from: 'details: [instrument, explain, authorise],',
    to: 'details: [instrument, explain],',
    tests: ['test/commands/unfurls/details.test.ts'],
  },
  {
    name: 'links are unfurled where another company reads along',
    file: UNFURL,
    from: "if (body.is_ext_shared_channel === true) return skipped(workspace, 'shared channel');",
    to: '',
    tests: [UNFURL_TEST],
  },
  {
    name: 'failed changes are not audited',
    file: PIPELINE,
    from: "else if (asked.isChange && !isMistake(error)) await record(asked, about, 'failed');",
    to: '',
    tests: [DOORS],
    only: 'audit log as failed',
  },
  {
    name: 'refusals are not audited',
    file: PIPELINE,
    from: "if (asked.kind !== 'options') await record(asked, { what: command, target: asked.target }, 'refused');",
    to: '',
    tests: ['test/commands/admin/audit.test.ts'],
  },
  {
    name: 'changes are not audited',
    file: PIPELINE,
    from: 'for (const change of [changes].flat()) await recordDone(asked, change, result);',
    to: 'void [changes, result, recordDone];',
    tests: ['test/commands/admin/audit.test.ts'],
  },
  {
    name: 'one person’s own key acts for everybody',
    file: KEYS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    from: 'return `${name} mine ${connectedBy}`;',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    to: 'return `${name} mine`;',
    tests: [KEYS_TEST],
  },
  {
    name: 'the billing key acts for every command',
    file: KEYS,
    from: "...(billing ? (['billing'] as const) : []),",
    to: "...(billing === false ? [] : (['billing'] as const)),",
    tests: [KEYS_TEST],
  },
  {
    name: 'a member may connect a key for everybody',
    file: 'src/commands/accounts/connect.ts',
    from: 'if (purpose !== undefined && choice?.purposes.includes(purpose) === false)',
    to: 'if (purpose === null)',
    tests: [KEYS_TEST],
  },
  {
    name: 'a member may remove somebody else’s key',
    file: 'src/commands/accounts/disconnect.ts',
    from: "purpose === 'mine' && connectedBy === user",
    to: "purpose === 'mine' && connectedBy !== ''",
    tests: [KEYS_TEST],
    only: 'disconnects a key of their own',
  },
];
