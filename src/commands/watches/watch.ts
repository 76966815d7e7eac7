import { z } from 'zod';
import { WATCH_MODES, type WatchMode } from '../../core/choices.ts';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { isSameOrNone, type ProjectRef } from '../../core/project-ref.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { Watch, WatchedServer, WorkingHours } from '../../records/schedules.ts';
import { canBePushed, isPushFor } from '../../scheduler/watches/push.ts';
import { editWatch, setUpWatch, type WatchChoices } from '../../scheduler/watches/watches.ts';
import { say } from '../../views/blocks/message.ts';
import { withOpened } from '../../views/blocks/shared-form.ts';
import { describeWatched } from '../../views/schedules/details.ts';
import { scheduleCard } from '../../views/schedules/schedule.ts';
import { pushWords, WATCH_EDIT, watchModal, watchValues } from '../../views/watches/watch.ts';
import { ServerNeeded } from '../../workspace/projects.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import { ESCALATION_FLAGS, formatHour, readClock, readEscalation } from '../schedules/cadence-words.ts';
import { editCommand } from '../schedules/edit.ts';
import { scheduleCommands } from '../schedules/lifecycle.ts';
import { changeCard, replyWithCard, replyWithNew, toShownSchedule } from '../schedules/schedules.ts';
import { FormFault, readFields, showUnderField } from '../submission.ts';
import { resolveProjectOrServer } from '../targets/resolve-target.ts';
import {
  findChosenProject,
  findProjectForForm,
  resolveAccount,
  resolveProject,
  resolveServer,
} from '../targets/targets.ts';
import { pushAction, pushForm } from './push.ts';

const watch = defineCommand({
  name: 'watch',
  phrase: 'posts deployments as they happen',
  synonyms: ['subscribe', 'watch add'],
  summary:
    'Posts what happens in a project or in all: all events, failures only, or changes between failing and passing',
  usage:
    '[project|all] [all|failures|transitions] [--server <server>] [--hours <from>-<to>] [--mention <@person|@group>] [--after <minutes>m]',
  examples: [
    'watch storefront failures',
    'watch all transitions',
    'watch storefront --server web-1',
    'watch storefront --hours 9-18',
    'watch storefront failures --mention @oncall --after 15m',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: true,
  rest: true,
  flags: ['server', 'hours', 'mention', 'after'],
  args: z.object({
    words: z.string().optional(),
    server: z.string().optional(),
    hours: z.string().optional(),
    ...ESCALATION_FLAGS,
  }),
  async run({ words, server, hours, mention, after }, context) {
    const { invocation, workspace } = context;
    const options = readWatchWords(words?.split(' ') ?? []);
    const read = hours === undefined ? undefined : readHours(hours);
    const channel = expectChannel(context);
    const { kind, watch: schedule } = await setUpWatch(workspace, {
      channel,
      ...(await resolveWatched(options, server, context)),
      hours: read && { ...read, zone: await readZone(workspace, invocation.user) },
      escalation: await readEscalation(context, { mention, after }),
      mode: options.mode,
      user: invocation.user,
      requestId: invocation.requestId,
    });
    if (kind === 'same') return replyPrivately(say(`:eyes: Already watching ${describeWatched(schedule)}.`));
    if (kind === 'new') return replyWithNew(context, schedule, 'watch', await drawNew(context, schedule));
    const done = kind === 'changed' ? 'edited' : kind;
    return replyWithCard(context, schedule, changeCard(schedule, done, context), { what: 'watch' });
  },
  actions: [pushAction],
  submissions: [pushForm],
});

async function drawNew({ invocation, workspace }: CommandContext, schedule: Watch): Promise<Message> {
  const push = (await workspace.pushes.list(schedule.account)).find((one) => isPushFor(one, schedule));
  const card = { ...toShownSchedule(schedule), canBePushed: canBePushed(workspace, schedule, push) };
  const note = pushWords(push, workspace.config.PUBLIC_URL);
  return scheduleCard(card, { done: 'set up', user: invocation.user, note });
}

/** Resolves the target with the key that reads the feed. */
async function resolveWatched(
  words: WatchWords,
  serverName: string | undefined,
  context: CommandContext,
): Promise<{ account: Account } & Pick<Watch, 'project' | 'server'>> {
  if (words.isAll) {
    const account = await resolveAccount(context, SCHEDULES);
    // The service lists servers by project, so every event is searched for the name.
    return {
      account,
      project: undefined,
      server: serverName === undefined ? undefined : watchedServer(serverName),
    };
  }
  const { account, project, server: named } = await resolveProjectAndMode(context, words.project, serverName);
  const serverText = serverName ?? named;
  const server =
    serverText === undefined ? undefined : await resolveServer(context, account, project, serverText);
  return { account, project, server: server && watchedServer(server) };
}

/**
 * @param server name of a server that the person gave too: then the words are a project's
 * @throws UserError that names the modes if the last word is neither one nor part of a project's name
 */
async function resolveProjectAndMode(
  context: CommandContext,
  words: string | undefined,
  server: string | undefined,
): Promise<{ account: Account; project: ProjectRef; server?: string }> {
  try {
    if (server !== undefined) return await resolveProject(context, words, SCHEDULES);
    return await resolveProjectOrServer(context, words, SCHEDULES);
  } catch (error) {
    const [, project, last = ''] = /^(.+) (\S+)$/.exec(words ?? '') ?? [];
    const isProject = () => resolveProject(context, project, SCHEDULES).then(Boolean, () => false);
    const isMistake = error instanceof UserError || error instanceof ServerNeeded;
    if (!isMistake || project === undefined || !(await isProject())) throw error;
    throw new UserError(`${code(last, 40)} is not a mode. Use \`all\`, \`failures\` or \`transitions\`.`);
  }
}

/** A server as a watch stores it; a server of any project has only a name. */
function watchedServer(server: WatchedServer | string): WatchedServer {
  const { identifier, name } = typeof server === 'string' ? { identifier: server, name: server } : server;
  return { identifier: identifier.slice(0, 200), name: name.slice(0, 200) };
}

const Typed = z.string().trim().optional();
const Fields = z.object({
  mode: z.enum(WATCH_MODES, { error: 'Choose what it posts.' }),
  project: z.string().optional(),
  server: Typed,
  hours: Typed,
  ...ESCALATION_FLAGS,
});

const watchEdit = editCommand('watch', {
  callbackId: WATCH_EDIT,
  async draw({ workspace }, schedule, from) {
    const { id, account } = schedule;
    const project = await findProjectForForm(workspace, account, schedule.project);
    return withOpened(watchModal({ id, account, from }, { ...schedule, project }), watchValues(schedule));
  },
  readValues: watchValues,
  together: [
    ['project', 'server'],
    ['mention', 'after'],
  ],
  readChoices: (state, context, schedule) => readChoices(context, schedule, readFields(Fields, state)),
  async save(workspace, schedule, choices, expectSame) {
    const edited = await editWatch(workspace, schedule, choices, expectSame);
    if (edited !== 'taken') return edited;
    throw new FormFault({ project: 'This channel already watches this project and server.' });
  },
});

/** @throws FormFault */
async function readChoices(
  context: CommandContext,
  before: Watch,
  { mode, project: projectName, server: serverText, hours, mention, after }: z.infer<typeof Fields>,
): Promise<WatchChoices> {
  const { invocation, workspace } = context;
  const account = await workspace.accounts.resolve(SCHEDULES, before.account);
  const project = projectName
    ? await showUnderField('project', () => findChosenProject(context, account, projectName))
    : undefined;
  // An unchanged server is not looked up again: it may be gone from the service.
  const isSame = isSameOrNone(project, before.project) && serverText === before.server?.name;
  const server = async (): Promise<Watch['server']> => {
    if (isSame || !serverText) return isSame ? before.server : undefined;
    if (project === undefined) return watchedServer(serverText);
    const look = () => resolveServer(context, account, project, serverText);
    return watchedServer(await showUnderField('server', look, 'The project has no such server.'));
  };
  const times = hours ? await showUnderField('hours', () => readHours(hours)) : undefined;
  return {
    mode,
    project,
    server: await server(),
    // Existing hours keep their zone; new ones get the person's.
    hours: times && { ...times, zone: before.hours?.zone ?? (await readZone(workspace, invocation.user)) },
    escalation: await readEscalation(context, { mention, after }, before.escalation),
  };
}

const { list, pause, resume, remove } = scheduleCommands('watch');

export const watchCommands: readonly Command[] = [watch, watchEdit, list, pause, resume, remove];

export interface WatchWords {
  /** Project as typed; undefined for none. */
  project: string | undefined;
  isAll: boolean;
  mode: WatchMode | undefined;
}

/** Words for the modes; "all" alone means all projects. */
const MODES: Readonly<Record<string, WatchMode>> = {
  failures: 'failures',
  failure: 'failures',
  failed: 'failures',
  errors: 'failures',
  transitions: 'transitions',
  transition: 'transitions',
  changes: 'transitions',
  all: 'all',
  everything: 'all',
};
const ALL = new Set(['all', 'everything']);

/** Splits the words after `watch` into a project and a mode. Pure. */
export function readWatchWords(words: readonly string[]): WatchWords {
  const lower = words.map((word) => word.toLowerCase());
  const first = lower[0] ?? '';
  const last = lower.at(-1) ?? '';
  const isOnlyAll = lower.length === 1 && ALL.has(first);
  if (!isOnlyAll && parseMode(last) !== undefined) return splitProject(words.slice(0, -1), parseMode(last));
  if (lower.length > 1 && !ALL.has(first) && parseMode(first) !== undefined)
    return splitProject(words.slice(1), parseMode(first));
  return splitProject(words, undefined);
}

function splitProject(words: readonly string[], mode: WatchMode | undefined): WatchWords {
  const project = words.join(' ');
  const isAll = ALL.has(project.toLowerCase());
  return { project: project === '' || isAll ? undefined : project, isAll, mode };
}

/** Returns undefined for any other word. */
export function parseMode(word: string): WatchMode | undefined {
  return Object.hasOwn(MODES, word) ? MODES[word] : undefined;
}

const RANGE = /^(\d{1,2})(?:[:.](\d{2}))?(am|pm)?(?:-|to)(\d{1,2})(?:[:.](\d{2}))?(am|pm)?$/;

/**
 * Reads `9-18`, and other spellings: `09:00-18:00`, `9 to 18`, `9am-6pm`, `22-6` for a night. Pure.
 * @throws UserError
 */
export function readHours(hours: string): Pick<WorkingHours, 'from' | 'to'> {
  const text = hours
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-');
  const [, fromHour, fromMinute, fromHalf, toHour, toMinute, toHalf] = RANGE.exec(text) ?? [];
  const from = formatTime(fromHour, fromMinute, fromHalf);
  const to = formatTime(toHour, toMinute, toHalf);
  if (from === undefined || to === undefined || from === '24:00' || from === to)
    throw new UserError(`${code(hours, 40)} is not a time range. Try \`9-18\`.`);
  return { from, to };
}

/** Formats a time as `09:00`; undefined if there is no such time. */
function formatTime(
  hour: string | undefined,
  minute: string | undefined,
  half: string | undefined,
): string | undefined {
  if (hour === undefined) return undefined;
  const [hours, minutes] = readClock(hour, minute, half);
  const isHalf = half === undefined || (Number(hour) >= 1 && Number(hour) <= 12);
  if (!isHalf || minutes > 59 || hours * 60 + minutes > 24 * 60) return undefined;
  return formatHour(hours, minutes);
}
