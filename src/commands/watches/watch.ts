import { z } from 'zod';
import { WATCH_MODES, type WatchMode } from '../../core/choices.ts';
import { UnmatchedWords, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { indexNames, isPattern, MAX_PATTERN, matchesPattern } from '../../core/names.ts';
import { isSameOrNone, type ProjectRef } from '../../core/project-ref.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { Watch, WorkingHours } from '../../records/schedules.ts';
import { canBePushed, isPushFor } from '../../scheduler/watches/switch-push.ts';
import { editWatch, setUpWatch, type WatchChoices } from '../../scheduler/watches/watches.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { withOpened } from '../../views/blocks/shared-form.ts';
import { describeWatched, matchesWords } from '../../views/schedules/details.ts';
import { pushWords, WATCH_EDIT, watchModal, watchValues } from '../../views/watches/watch-messages.ts';
import { ServerNeeded } from '../../workspace/project-list.ts';
import { readZone } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { isSmallWord } from '../readings.ts';
import { replyPrivately } from '../replies.ts';
import { ESCALATION_FLAGS, formatHour, readClock, readEscalation } from '../schedules/cadence-words.ts';
import { type DoneChange, replyWithChange, replyWithNew, retireCard } from '../schedules/change-replies.ts';
import { editCommand } from '../schedules/edit-schedule.ts';
import { scheduleCommands } from '../schedules/schedule-commands.ts';
import { offerCard } from '../schedules/schedule-replies.ts';
import { FormFault, readFields, showUnderField } from '../submission.ts';
import { resolveProjectOrServer } from '../targets/resolve-target.ts';
import {
  findChosenProject,
  findProjectForForm,
  namesProject,
  resolveAccount,
  resolveProject,
} from '../targets/targets.ts';
import { pushAction, pushForm } from './push.ts';
import { WATCH_PHRASES } from './watch-phrases.ts';
import { joinServers, readServers } from './watched-servers.ts';

const watch = defineCommand({
  name: 'watch',
  phrase: 'posts deployments as they happen',
  synonyms: ['subscribe', 'watch add', 'follow', 'track'],
  phrases: WATCH_PHRASES,
  summary:
    'Posts what happens in a project or in all: all events, failures only, or changes between failing and passing',
  usage:
    '[project|pattern|all] [all|failures|transitions] [--server <servers>] [--not <servers>] [--hours <from>-<to>] [--mention <@person|@group>] [--after <minutes>m]',
  examples: [
    'watch storefront failures',
    'watch all transitions',
    'watch shop-* failures',
    'watch storefront --server web-1',
    'watch storefront --server web-1,web-2',
    'watch storefront --not staging',
    'watch storefront --hours 9-18',
    'watch storefront failures --mention @oncall --after 15m',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: true,
  rest: true,
  flags: ['server', 'not', 'hours', 'mention', 'after'],
  args: z.object({
    words: z.string().optional(),
    server: z.string().optional(),
    not: z.string().optional(),
    hours: z.string().optional(),
    ...ESCALATION_FLAGS,
  }),
  async handle({ words, server, not, ...others }, context) {
    const flags = { ...others, server: joinServers(server, not) };
    const options = readWatchWords(words?.split(' ') ?? []);
    const names = await splitProjects(context, options.project);
    const [first, ...more] = names;
    if (more.length === 0) return setUp(options, flags, context);
    // All are looked up before the first one is set up.
    for (const project of names) await resolveWatched({ ...options, project }, flags.server, context);
    const replies = [await setUp({ ...options, project: first }, flags, context)];
    for (const project of more) {
      const requestId = `${context.invocation.requestId} ${project}`;
      const own = { ...context, invocation: { ...context.invocation, requestId } };
      replies.push(await setUp({ ...options, project }, flags, own));
    }
    return { kind: 'several', replies, audit: replies.flatMap(({ audit }) => audit ?? []) };
  },
  actions: [pushAction],
  submissions: [pushForm],
});

interface WatchFlags {
  server?: string | undefined;
  hours?: string | undefined;
  mention?: string | undefined;
  after?: string | undefined;
}

async function setUp(
  options: WatchWords,
  { server, hours, mention, after }: WatchFlags,
  context: CommandContext,
): Promise<Reply> {
  const { invocation, workspace } = context;
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
  if (kind === 'same') {
    const isMeant = options.mode !== undefined || schedule.mode === 'all';
    return replyPrivately(await offerCard(context, say(describeSame(workspace, schedule, isMeant))));
  }
  if (kind === 'new') return replyWithNew(context, schedule, 'watch', await describeNew(context, schedule));
  await retireCard(workspace, schedule);
  const done = kind === 'changed' ? 'edited' : kind;
  return replyWithChange(context, { schedules: [schedule], done, what: 'watch' }, {});
}

/** @param isMeant false if the person may have meant all events */
function describeSame({ pages, word }: Workspace, schedule: Watch, isMeant: boolean): string {
  const already = `:eyes: Already watching ${describeWatched(schedule, pages)}.`;
  const name = schedule.project?.permalink ?? schedule.pattern ?? 'all';
  return isMeant ? already : `${already} ${code(`${word} watch ${name} all`, 120)} tells all events.`;
}

const BETWEEN_NAMES = /,|\band\b|[&+]/i;

/** The names in "storefront, search" and "storefront and search", unless a project is called so. */
async function splitProjects(context: CommandContext, words: string | undefined): Promise<readonly string[]> {
  if (words === undefined || !BETWEEN_NAMES.test(words)) return [];
  const account = await resolveAccount(context, SCHEDULES);
  if (await namesProject(context, account, words)) return [];
  return [...new Set(words.split(BETWEEN_NAMES).map((name) => name.trim()))].filter((name) => name !== '');
}

async function describeNew(
  { workspace }: CommandContext,
  schedule: Watch,
): Promise<Pick<DoneChange, 'note' | 'canBePushed'>> {
  const push = (await workspace.pushes.list(schedule.account)).find((one) => isPushFor(one, schedule));
  const note = pushWords(push, workspace.config.PUBLIC_URL) ?? (await describeMatches(workspace, schedule));
  return { note, canBePushed: canBePushed(workspace, schedule, push) };
}

/** Says which projects a pattern means now, so that a mistake in it is seen at once; mrkdwn. */
async function describeMatches(
  { accounts, projects }: Workspace,
  { account: name, pattern }: Watch,
): Promise<string | undefined> {
  if (pattern === undefined) return undefined;
  const all = await projects.list(await accounts.resolve(SCHEDULES, name));
  const matches = all.filter((project) => matchesPattern(pattern, project));
  return matchesWords(matches.map((project) => project.name));
}

/** Resolves the target with the key that reads the feed. */
async function resolveWatched(
  words: WatchWords,
  serverName: string | undefined,
  context: CommandContext,
): Promise<{ account: Account } & Pick<Watch, 'project' | 'pattern' | 'server'>> {
  const isNamed =
    words.isAll && (await namesProject(context, await resolveAccount(context, SCHEDULES), ALL_WORD));
  if (isNamed) return resolveWatched({ ...words, isAll: false, project: ALL_WORD }, serverName, context);
  const isAll = words.isAll || words.project === '*';
  const pattern = isAll ? undefined : await readPattern(context, words.project);
  if (isAll || pattern !== undefined) {
    const account = await resolveAccount(context, SCHEDULES);
    const server = serverName === undefined ? undefined : await readServers(context, { account }, serverName);
    return { account, project: undefined, pattern, server };
  }
  const { account, project, server: named } = await resolveProjectAndMode(context, words.project, serverName);
  const serverText = serverName ?? named;
  const server =
    serverText === undefined ? undefined : await readServers(context, { account, project }, serverText);
  return { account, project, server };
}

/** The words as a pattern; undefined if they have no star, or are the whole name of a project. */
async function readPattern(context: CommandContext, words: string | undefined): Promise<string | undefined> {
  if (words === undefined || !isPattern(words)) return undefined;
  const account = await resolveAccount(context, SCHEDULES);
  const projects = await context.workspace.projects.list(account);
  return (await indexNames(projects)).find(words).length > 0 ? undefined : words.slice(0, MAX_PATTERN);
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
    const Fault = isSmallWord(last) ? UnmatchedWords : UserError;
    throw new Fault(
      `${code(last, 40)} is not a server of ${code(project, 60)}, nor \`all\`, \`failures\` or \`transitions\`.`,
    );
  }
}

const Typed = z.string().trim().optional();
const Fields = z.object({
  mode: z.enum(WATCH_MODES, { error: 'Choose what it posts.' }),
  project: z.string().optional(),
  pattern: Typed.pipe(z.string().max(MAX_PATTERN).optional()),
  server: Typed,
  hours: Typed,
  ...ESCALATION_FLAGS,
});

const watchEdit = editCommand('watch', {
  callbackId: WATCH_EDIT,
  async draw({ invocation, workspace }, schedule) {
    const { id, account } = schedule;
    const origin = { id, account, channel: invocation.channel };
    const project = await findProjectForForm(workspace, account, schedule.project);
    return withOpened(watchModal(origin, { ...schedule, project }), watchValues(schedule));
  },
  readValues: watchValues,
  together: [
    ['project', 'pattern', 'server'],
    ['mention', 'after'],
  ],
  readChoices: (state, context, schedule) => readChoices(context, schedule, readFields(Fields, state)),
  async save(workspace, schedule, choices, expectSame) {
    const edited = await editWatch(workspace, schedule, choices, expectSame);
    if (edited !== 'taken') return edited;
    throw new FormFault({
      project: 'Another watch of this channel has this project and server. Choose others, or edit that one.',
    });
  },
});

/** @throws FormFault */
async function readChoices(
  context: CommandContext,
  before: Watch,
  {
    mode,
    project: projectName,
    pattern: typed,
    server: serverText,
    hours,
    mention,
    after,
  }: z.infer<typeof Fields>,
): Promise<WatchChoices> {
  // A star alone means all projects.
  const pattern = typed === '*' ? undefined : typed || undefined;
  if (projectName && pattern !== undefined)
    throw new FormFault({
      pattern: 'Choose one project, or projects by their names. Leave the other empty.',
    });
  if (pattern !== undefined && !isPattern(pattern))
    throw new FormFault({ pattern: 'Put a star where any text may stand, e.g. shop-*.' });
  const account = await context.workspace.accounts.resolve(SCHEDULES, before.account);
  const project = projectName
    ? await showUnderField('project', () => findChosenProject(context, account, projectName))
    : undefined;
  // An unchanged server is not looked up again: it may be gone from the service.
  const isSame = isSameOrNone(project, before.project) && serverText === before.server?.name;
  const server = async (): Promise<Watch['server']> => {
    if (isSame || !serverText) return isSame ? before.server : undefined;
    const look = () => readServers(context, { account, project }, serverText);
    return showUnderField('server', look, 'There is no such server.');
  };
  return {
    mode,
    project,
    pattern,
    server: await server(),
    hours: hours ? await readHoursField(context, hours, before.hours) : undefined,
    escalation: await readEscalation(context, { mention, after }, before.escalation),
  };
}

/** The hours of a form. Existing ones keep their zone; new ones get the person's. @throws FormFault */
export async function readHoursField(
  { invocation, workspace }: CommandContext,
  typed: string,
  before: WorkingHours | undefined,
): Promise<WorkingHours> {
  const times = await showUnderField('hours', () => readHours(typed));
  return { ...times, zone: before?.zone ?? (await readZone(workspace, invocation.user)) };
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
const ALL_WORD = 'all';
const ALL = new Set([ALL_WORD, 'everything']);

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
