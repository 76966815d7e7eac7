import type { HomeView } from '@slack/types';
import { isDirect, type KnownBlock } from '../../core/message.ts';
import { bold, code, dateTime, joinLinesWithin, listFirst, truncateMarkup } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Account } from '../../records/accounts.ts';
import type { RecoveryFigures } from '../../records/recoveries.ts';
import type { Schedule } from '../../records/schedules.ts';
import type { Run } from '../../records/test-runs.ts';
import {
  type ActivityEvent,
  type ActivityStats,
  type DeploymentsData,
  readEventTime,
} from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { describeHealth } from '../accounts/account-messages.ts';
import { eventLine, projectName, recoveryWords, statsBlocks } from '../activity/activity-message.ts';
import type { Charts } from '../activity/chart.ts';
import { listBlocks, skippedWords } from '../blocks/lists.ts';
import { button, buttons, context, header, LIMITS, notes, section } from '../blocks/make-blocks.ts';
import { projectLink, showLink } from '../blocks/page-links.ts';
import { type FailingNow, failureLine, listOldAges, settledWords } from '../episodes/failing-message.ts';
import { type ChannelRow, channelBlocks } from '../overview/channel-table.ts';
import { SCHEDULE_FACES } from '../schedules/faces.ts';
import { scheduleMenu, whyPaused } from '../schedules/schedule.ts';
import { scheduleWords } from '../schedules/words.ts';
import { runWords, targetWords } from '../test-access/test-run.ts';

/** Words about a project. */
interface ProjectLine {
  name: string;
  permalink?: string | undefined;
  words: string;
}

/** An account's figures of the week. Undefined if the service gives none; `failed` is mrkdwn. */
export type AccountFigures =
  | {
      stats: ActivityStats | undefined;
      data?: DeploymentsData;
      skipped?: readonly SkippedRows[];
      /** Recovery times of the projects that failed lately. */
      recoveries?: readonly RecoveryFigures[];
      /** Projects whose commits wait to be deployed, in words. */
      waiting?: readonly ProjectLine[];
      /** The last deployments, the newest first. */
      latest?: readonly ActivityEvent[];
    }
  | { failed: string };

export type ShownFigures = 'loading' | Readonly<Record<string, AccountFigures>>;

export interface HomeRun extends Run {
  /** Address of its message. */
  link?: string | undefined;
}

export interface HomeSchedule {
  schedule: Schedule;
  /** Time of its next post, milliseconds since the epoch; undefined if unknown. */
  next: number | undefined;
}

export interface HomeData {
  word: string;
  /** Undefined for a view without links. */
  pages?: Pages | undefined;
  /** Milliseconds since the epoch. */
  now: number;
  canSignUp: boolean;
  accounts: readonly Account[];
  defaultAccount: string | undefined;
  figures: ShownFigures;
  /** Charts by account. */
  charts?: Charts;
  /** In display order. */
  failing: FailingNow;
  runs: readonly HomeRun[];
  schedules: readonly HomeSchedule[];
  /** Schedules by channel; empty for whoever is no operator. */
  channels?: readonly ChannelRow[];
  /** The person's roles in addition to member. */
  roles: readonly string[];
}

/** The default range of `activity` and digests. */
export const HOME_RANGE = 'last_7_days';
export const MAX_FAILING = 10;
export const MAX_RUNNING = 5;
export const MAX_ENDED = 8;
export const MAX_FIGURES = 3;
export const MAX_LATEST = 5;
const MAX_ACCOUNTS = 10;
const MAX_SCHEDULES = 15;

/**
 * App Home: open failures, test runs, schedules, accounts with their last seven days, and the person's
 * permissions.
 */
export function homeView(data: HomeData): HomeView & { blocks: KnownBlock[] } {
  const blocks = [
    ...(data.accounts.length === 0 ? firstSteps(data) : overview(data)),
    header('Your permissions'),
    section(permissionWords(data)),
    context(`As of ${dateTime(data.now)}`, `${code(`${data.word} help`)} lists all commands`),
  ];
  return { type: 'home', blocks: blocks.slice(0, LIMITS.blocksInView) };
}

/**
 * For people who may not use Deckhand. Shows the reason, and no data of the workspace.
 * @param words mrkdwn
 */
export function refusedHomeView(words: string): HomeView {
  return { type: 'home', blocks: [section(words)] };
}

function firstSteps(data: HomeData): KnownBlock[] {
  const { word, canSignUp } = data;
  const isAdmin = data.roles.includes('admin');
  const first = isAdmin
    ? 'Connect an account of your deployment service with your e-mail address and API key.'
    : `Ask an admin to connect an account of your deployment service: ${code(`${word} connect`)}.`;
  const rest = [
    `*2*  Invite Deckhand to the channel where you deploy: ${code('/invite')}.`,
    `*3*  Bind the channel to a project: ${code(`${word} use <project>`)}.`,
    `*4*  Test that its repository and servers can be reached: ${code(`${word} test`)}.`,
    `*5*  Get a summary every week: ${code(`${word} digest add`)}.`,
  ];
  return [
    header('Welcome aboard'),
    section(`*1*  ${first}`),
    ...buttons(
      isAdmin && button('Connect an account', 'connect:open', { style: 'primary', value: {} }),
      isAdmin && canSignUp && button('Create an account', 'signup:open'),
    ),
    section(rest.join('\n')),
  ];
}

function overview(data: HomeData): KnownBlock[] {
  const isAdmin = data.roles.includes('admin');
  const omitted = data.accounts.length - MAX_ACCOUNTS;
  return [
    ...failingBlocks(data.failing, data.word),
    ...buttons(
      button('Test access', 'test:open', { style: 'primary' }),
      isAdmin && button('Connect an account', 'connect:open', { value: {} }),
    ),
    header('Test runs'),
    ...listBlocks(
      data.runs.length === 0 ? ['No test runs yet.'] : data.runs.map((run) => runLine(run, data.pages)),
    ),
    header('Schedules'),
    ...scheduleBlocks(data),
    ...channelBlocks(data.channels ?? [], data.word),
    ...drawLatest(data),
    ...drawHomeFigures(data),
    header('Accounts'),
    ...data.accounts.slice(0, MAX_ACCOUNTS).map((account) => accountBlock(account, data)),
    ...(omitted > 0 ? [context(`and ${omitted} more: ${code(`${data.word} accounts`)}`)] : []),
  ];
}

function failingBlocks(now: FailingNow, word: string): KnownBlock[] {
  const { failures, settled, ages } = now;
  const below = [
    ...(settled.length === 0 ? [] : [settledWords(now)]),
    ...listOldAges(ages).map((words) => `:hourglass: ${words}`),
  ];
  if (failures.length === 0) return notes(...below);
  const rest = failures.slice(MAX_FAILING);
  const places = rest.flatMap(({ key, subject }) => (key === undefined ? [] : [placeWords(subject.channel)]));
  const channels = listFirst([...new Set(places)], 50, 'channels');
  const more = `and ${rest.length} more${channels && `, in ${channels}`}: ${code(`${word} failing all`)}`;
  return [
    header('Failing now'),
    ...listBlocks(failures.slice(0, MAX_FAILING).map((one) => failureLine(one, true))),
    ...notes(rest.length > 0 && more, ...below),
  ];
}

function placeWords(channel: string): string {
  return isDirect(channel) ? 'direct messages' : `<#${channel}>`;
}

function accountBlock(account: Account, data: HomeData): KnownBlock {
  const { name, state, purpose } = account;
  const isOwn = purpose === 'mine';
  const isDefault = name === data.defaultAccount && data.accounts.length > 1 ? '  _default_' : '';
  const mayReconnect = state === 'broken' && (isOwn || data.roles.includes('admin'));
  const reconnect = button('Connect again', 'connect:open', { value: { account: name } });
  return section(
    `${bold(name)}${isDefault}  ${describeHealth(account)}${isOwn ? '  _with your own key_' : ''}`,
    mayReconnect && reconnect,
  );
}

/** The last deployments of the shown accounts. */
function drawLatest({ figures, pages }: HomeData): KnownBlock[] {
  const accounts = figures === 'loading' ? [] : Object.entries(figures);
  const all = accounts.flatMap(([account, figure]) =>
    ('latest' in figure ? (figure.latest ?? []) : []).map((event) => ({ account, event })),
  );
  const newest = all.toSorted((one, other) => readEventTime(other.event) - readEventTime(one.event));
  const lines = newest.slice(0, MAX_LATEST).map(({ account, event }) => {
    const name = projectName(event, account, pages);
    const where = accounts.length > 1 ? `${name} in ${code(account)}` : name;
    return eventLine(event, dateTime, undefined, [where]);
  });
  return lines.length === 0 ? [] : [header('Last deployments'), ...listBlocks(lines)];
}

function drawHomeFigures({ accounts, figures, charts, pages }: HomeData): KnownBlock[] {
  const title = header('The last 7 days');
  if (figures === 'loading')
    return [title, context(':hourglass_flowing_sand: Loading the figures of the last 7 days…')];
  const names = accounts.map(({ name }) => name).filter((name) => Object.hasOwn(figures, name));
  const blocks = names.flatMap((name) => {
    const figure = figures[name];
    if (figure === undefined) return [];
    const whose = names.length === 1 ? [] : [section(bold(name))];
    if ('failed' in figure) return [...whose, context(`:warning: ${figure.failed}`)];
    const chart = charts?.get(name);
    const { recoveries = [] } = figure;
    const recovered = recoveries.map((one) => ({ name: one.name, words: recoveryWords(one) }));
    const drawn = [...statsBlocks(figure.stats, HOME_RANGE), ...(chart ? [chart] : [])];
    return [
      ...whose,
      ...drawn,
      ...projectLines('Recovery', recovered, (one) => bold(one.name)),
      ...projectLines('Waiting', figure.waiting ?? [], (one) => projectLink(pages, name, one)),
      ...notes(skippedWords(figure.skipped ?? [])),
    ];
  });
  return blocks.length === 0 ? [] : [title, ...blocks];
}

function projectLines(
  title: string,
  projects: readonly ProjectLine[],
  nameProject: (project: ProjectLine) => string,
): KnownBlock[] {
  if (projects.length === 0) return [];
  const lines = projects.map((project) => `${nameProject(project)}: ${project.words}`);
  return [section(joinLinesWithin([`*${title}*`, ...lines], LIMITS.sectionText, 'more projects'))];
}

function runLine(run: HomeRun, pages: Pages | undefined): string {
  return `${targetWords(run.target, pages)} in ${code(run.target.account)}: ${runWords(run)}${showLink(run.link)}`;
}

function scheduleBlocks({ schedules, roles, word, pages }: HomeData): KnownBlock[] {
  if (schedules.length === 0)
    return [
      section(
        `No schedules yet. ${code(`${word} digest add`)} posts a summary, ${code(`${word} watch`)} each deployment as it happens.`,
      ),
    ];
  return [
    ...schedules.slice(0, MAX_SCHEDULES).map((schedule) => drawSchedule(schedule, roles, pages)),
    ...moreSchedules(schedules.slice(MAX_SCHEDULES), word),
  ];
}

/**
 * "Digest of `acme`: the last 7 days, every Monday at 09:00, in #deploys", with the next post or the reason
 * for a pause
 */
function drawSchedule(
  { schedule, next }: HomeSchedule,
  roles: readonly string[],
  pages: Pages | undefined,
): KnownBlock {
  const { kind, channel, state } = schedule;
  const face = SCHEDULE_FACES[kind];
  const isAsleep = state.kind === 'paused';
  const icon = isAsleep ? ':double_vertical_bar:' : face.icon;
  const when = isAsleep
    ? `Paused ${truncateMarkup(whyPaused(state), 1000)}.`
    : next && `Next ${dateTime(next)}`;
  const text = [
    `${icon} *${face.title}* of ${truncateMarkup(scheduleWords(schedule, pages), 500)}, ${isDirect(channel) ? 'by direct message' : `in <#${channel}>`}`,
    ...(when ? [when] : []),
  ];
  const mayChange = roles.includes(face.role) && !isDirect(channel);
  return section(text.join('\n'), mayChange && scheduleMenu({ schedule }, `${kind}:menu`));
}

function moreSchedules(omitted: readonly HomeSchedule[], word: string): KnownBlock[] {
  if (omitted.length === 0) return [];
  const kinds = [...new Set(omitted.map(({ schedule }) => schedule.kind))];
  const lists = kinds
    .map((kind) => SCHEDULE_FACES[kind])
    .map(({ commands: { list }, role }) => (role === 'operator' ? `${list} all` : list));
  return [context(`and ${omitted.length} more: ${lists.map((list) => code(`${word} ${list}`)).join(', ')}`)];
}

function permissionWords({ roles, word }: HomeData): string {
  const lines = [':mag: Test access, see projects, servers and activity'];
  if (roles.includes('operator')) lines.push(':wrench: Set up integrations, servers, digests and watches');
  if (roles.includes('billing')) lines.push(':receipt: See invoices and get notices of new ones');
  if (roles.includes('admin')) lines.push(':key: Connect accounts and give roles');
  else lines.push(`_Admins give roles with_ ${code(`${word} roles`)}`);
  return lines.join('\n');
}
