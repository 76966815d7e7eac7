import { z } from 'zod';
import { deliver } from '../../cards/deliver.ts';
import { UserError } from '../../core/errors.ts';
import type { KnownBlock, Message, Reply } from '../../core/message.ts';
import { code, listFirst } from '../../core/mrkdwn.ts';
import { nameKey } from '../../core/names.ts';
import {
  type ActivityRange,
  countDays,
  isServiceRange,
  MAX_DAYS,
  type Range,
  toServiceRange,
} from '../../core/time/range.ts';
import type { Account } from '../../records/accounts.ts';
import type { KnownActivity } from '../../records/ledger.ts';
import { type RecoveryFigures, readRecoveries } from '../../records/recoveries.ts';
import { makePersonKey } from '../../records/service-people.ts';
import { countByDay } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { ActivityAsk, type ActivityAudience, activityMessage } from '../../views/activity/activity.ts';
import { withCharts } from '../../views/activity/chart.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { fetchActivity, readKnownActivity } from '../../workspace/activity.ts';
import { ServerNeeded } from '../../workspace/projects.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { resolveProjectOrServer, splitProjectAndServer } from '../targets/resolve-target.ts';
import { findBoundProject, isEverything, resolveServer } from '../targets/targets.ts';

/** The service's own default. API 4.9 (docs/service-api.md). */
const DEFAULT_RANGE = 'last_7_days';

export const activity = defineCommand({
  name: 'activity',
  phrase: 'shows what happened, and what fails now',
  synonyms: ['deployments', 'deploys', 'feed', 'log', 'logs'],
  shorthands: { figures: 'stats', statistics: 'stats', stats: 'stats' },
  summary: 'Shows what happened lately, and how deployments went',
  usage: '[range] [stats] [project|server|person|all]',
  examples: ['activity', 'activity today', 'activity 30d stats', 'activity week storefront'],
  role: 'member',
  target: 'account',
  rest: true,
  flags: ['project'],
  switches: ['stats'],
  args: z.object({
    words: z.string().optional(),
    project: z.string().optional(),
    stats: z.literal(true).optional(),
  }),
  async run(args, context, { account }) {
    const words = readActivityWords(args.words?.split(' ') ?? []);
    const name = args.project ?? words.project;
    const ask = await findAsk(context, account, { ...words, name, range: words.range ?? DEFAULT_RANGE });
    const stats = args.stats ?? words.stats;
    return replyPrivately(await showPrivately({ ...ask, stats }, context));
  },
  actions: [
    defineButton(ActivityAsk, {
      actionId: 'activity:page',
      run: async (query, context) => replyInPlace(await showPrivately(query, context)),
    }),
    defineButton(ActivityAsk, { actionId: 'activity:share', once: true, durable: true, run: share }),
  ],
});

/** How far back a history goes if nobody says. */
const HISTORY_RANGE = 'last_90_days';

export const history = defineCommand({
  name: 'history',
  phrase: 'lists deployments, the newest first',
  synonyms: ['history of', 'deployment history'],
  summary: 'Lists the deployments of a project, a server or a person',
  usage: '[project] [server] [range]',
  examples: ['history storefront', 'history web-2', 'history storefront web-2 30d', 'history kim 1y'],
  role: 'member',
  target: 'account',
  rest: true,
  flags: ['project'],
  args: z.object({ words: z.string().optional(), project: z.string().optional() }),
  async run(args, context, { account }) {
    const { range = HISTORY_RANGE, project, stats } = readActivityWords(args.words?.split(' ') ?? []);
    const ask = await findAsk(context, account, { range, name: args.project ?? project });
    return replyPrivately(await showPrivately({ ...ask, stats, isHistory: true }, context));
  },
});

async function findAsk(
  context: CommandContext,
  account: Account,
  { name, range }: { name: string | undefined; range: Range },
): Promise<ActivityAsk> {
  const [zone, subject] = await Promise.all([
    readZone(context.workspace, context.invocation.user),
    findSubject(context, account, name),
  ]);
  return { account: account.name, range, stats: false, zone, page: 0, ...subject };
}

/**
 * The named project, server of a project, or person, else the channel's project.
 * @throws UserError, ProjectNeeded or ServerNeeded if the name matches none or several
 */
async function findSubject(
  context: CommandContext,
  account: Account,
  name: string | undefined,
): Promise<Partial<ActivityAsk>> {
  if (name === undefined) return { project: await findBoundProject(context, account) };
  if (isEverything(name)) return {};
  try {
    const both = name.includes(' ') ? await splitProjectAndServer(context, account, name) : undefined;
    const match = await resolveProjectOrServer(context, both?.project ?? name);
    const { account: used, project, server = both?.server } = match;
    if (server === undefined) return { account: used.name, project };
    return { account: used.name, project, server: await resolveServer(context, used, project, server) };
  } catch (error) {
    const span = name.split(' ').find((word) => OTHER_SPAN.test(word.toLowerCase()));
    // No project has the name, so the person meant a range.
    const isUnmatched = error instanceof UserError || error instanceof ServerNeeded;
    if (isUnmatched && span !== undefined) throw wrongRange(`There is no range ${code(span, 40)}.`);
    const people = isUnmatched ? await findPeople(context, account, name) : [];
    if (people.length > 0) return { people };
    throw error;
  }
}

const MENTION = /^<?@([UW][A-Z0-9]+)>?$/;

/**
 * Names at the service of the person whom words name: a whole name, a part of one, or a person in Slack.
 * @throws UserError if several people have the name
 */
async function findPeople({ workspace }: CommandContext, account: Account, words: string): Promise<string[]> {
  const page = await fetchActivity(workspace, account, { range: 'last_30_days', stats: false });
  const query = { range: HISTORY_RANGE, zone: 'UTC' } as const;
  const { events } = await readKnownActivity(workspace, account, query, page);
  const all = [...new Set(events.flatMap(({ user }) => user ?? []))];
  const [, slackUser] = MENTION.exec(words) ?? [];
  if (slackUser !== undefined) {
    const mentions = await workspace.names.mentions(account.name);
    return all.filter((name) => mentions.get(makePersonKey(name)) === slackUser);
  }
  const key = nameKey(words);
  const exact = all.filter((name) => nameKey(name) === key);
  const fitting = exact.length > 0 ? exact : all.filter((name) => nameKey(name).split(' ').includes(key));
  if (exact.length === 0 && fitting.length > 1)
    throw new UserError(
      `Several people have that name: ${listFirst(
        fitting.map((name) => code(name, 60)),
        10,
        'people',
      )}.`,
    );
  return fitting;
}

async function showPrivately(query: ActivityAsk, context: CommandContext): Promise<Message> {
  return (await readActivity(query, context)).message;
}

/** The feed, and the message about it for one person. */
export async function readActivity(
  query: ActivityAsk,
  context: CommandContext,
): Promise<{ feed: KnownActivity; message: Message }> {
  const feed = await fetchFeed(query, context);
  return { feed, message: draw(query, feed, { kind: 'person', isShared: false }, context) };
}

/** Posts the current state of a person's own list in the channel. */
async function share(query: ActivityAsk, context: ActionContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { channel, user } = invocation;
  if (channel === undefined) throw new UserError('Use this in a channel, where it can be shared.');
  const feed = await fetchFeed(query, context);
  const message = draw(query, feed, { kind: 'channel', sharedBy: user }, context);
  // Posted before the reply, so that the person can click again if Slack rejects the post.
  await deliver(workspace, { id: `shared ${invocation.requestId}`, channel, message });
  return replyInPlace(draw(query, feed, { kind: 'person', isShared: true }, context), {
    target: query.account,
  });
}

/** A feed, with the rows that could not be read. */
type Feed = KnownActivity & { skipped: readonly SkippedRows[]; recovery: RecoveryFigures | undefined };

function draw(
  query: ActivityAsk,
  feed: Feed,
  audience: ActivityAudience,
  { workspace }: CommandContext,
): Message {
  const message = (chart?: KnownBlock): Message =>
    withSkipped(activityMessage(query, feed, audience, { chart, recovery: feed.recovery }), feed.skipped);
  if (!query.stats) return message();
  const data = countByDay(query, feed, workspace.clock.now());
  return withCharts(new Map([[query.account, data]]), (charts) => message(charts.get(query.account)));
}

async function fetchFeed(query: ActivityAsk, { invocation, workspace }: CommandContext): Promise<Feed> {
  const account = await workspace.accounts.resolve(invocation, query.account);
  const skipped: SkippedRows[] = [];
  const { range, zone, project, server, stats } = query;
  // The service's figures are those of the whole account.
  const request = {
    range: toServiceRange(range),
    stats: stats && project === undefined && query.people === undefined,
  };
  const page = await fetchActivity(workspace, account, request, { skipped });
  const feed = await readKnownActivity(workspace, account, query, page);
  const of = project && server === undefined && { account: account.name, project };
  const [recovery] =
    of && stats ? await readRecoveries(workspace, { range, zone, of, channel: invocation.channel }) : [];
  return { ...feed, skipped, recovery };
}

export interface ActivityWords {
  range: Range | undefined;
  stats: boolean;
  project: string | undefined;
}

/** Words for the ranges of API 4.9 (docs/service-api.md), longest first; hyphens and underscores count as spaces. */
const RANGES: ReadonlyArray<[phrase: RegExp, range: Range]> = [
  [/^(?:the )?(?:last|past) (?:7(?: ?d(?:ays?)?)?|seven days|week)$/, 'last_7_days'],
  [/^(?:the )?(?:last|past) (?:30(?: ?d(?:ays?)?)?|thirty days|month)$/, 'last_30_days'],
  [/^(?:this|current) week$/, 'this_week'],
  [/^(?:7(?: ?d(?:ays?)?)?|1 ?w(?:eeks?)?)$/, 'last_7_days'],
  [/^(?:30(?: ?d(?:ays?)?)?|1 ?m(?:onths?)?)$/, 'last_30_days'],
  [/^week$/, 'this_week'],
  [/^(?:(?:this|current) )?month$/, 'last_30_days'],
  [/^today$/, 'today'],
  [/^(?:the )?(?:last |past )?quarter$/, 'last_90_days'],
  [/^(?:the )?(?:last |past )?(?:year|twelve months)$/, 'last_365_days'],
];
/** Any number of days, weeks, months or years. */
const SPAN = /^(?:the )?(?:last |past )?(\d{1,4}) ?(d|w|m|y)(?:ays?|eeks?|onths?|ears?)?$/;
const UNIT_DAYS = new Map([
  ['d', 1],
  ['w', 7],
  ['m', 30],
  ['y', 365],
]);
const MAX_PHRASE = 4;
const STATS = new Set(['stats', 'stat', 'statistics', 'figures']);
const OTHER_SPAN =
  /^(?:(?:last |past )?\d* ?(?:h|d|w|m|y|hours?|days?|weeks?|months?|years?)|this year|yesterday)$/;

/**
 * Splits the words after `activity` into a range, `stats` and a project. Pure.
 * @throws UserError for two ranges, or a span of time that the service does not have
 */
export function readActivityWords(words: readonly string[]): ActivityWords {
  const result: ActivityWords = { range: undefined, stats: false, project: undefined };
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    const match = rangeAt(words, at);
    if (match !== undefined) {
      if (result.range !== undefined) throw wrongRange('Name one range only.');
      result.range = match.range;
      at += match.length;
      continue;
    }
    const word = words[at] ?? '';
    if (STATS.has(word.toLowerCase())) result.stats = true;
    else rest.push(word);
    at += 1;
  }
  const project = rest.join(' ');
  if (OTHER_SPAN.test(project.toLowerCase())) throw wrongRange(`There is no range ${code(project, 40)}.`);
  return project === '' ? result : { ...result, project };
}

/** The range that begins at a word, and its number of words. */
function rangeAt(words: readonly string[], at: number): { range: Range; length: number } | undefined {
  for (let length = Math.min(MAX_PHRASE, words.length - at); length > 0; length -= 1) {
    const phrase = words
      .slice(at, at + length)
      .join(' ')
      .toLowerCase()
      .replaceAll(/[_-]+/g, ' ');
    const range = RANGES.find(([pattern]) => pattern.test(phrase))?.[1] ?? readSpan(phrase);
    if (range !== undefined) return { range, length };
  }
  return undefined;
}

/** "90d", "6 weeks", "the last 3 months" @throws UserError for more days than Deckhand keeps */
function readSpan(phrase: string): Range | undefined {
  if (phrase === 'this year') throw wrongRange(`There is no range ${code(phrase)}.`);
  const [, amount, unit = ''] = SPAN.exec(phrase) ?? [];
  if (amount === undefined) return undefined;
  const days = Number(amount) * (UNIT_DAYS.get(unit) ?? 0);
  if (days > MAX_DAYS) throw wrongRange(`Deckhand keeps ${MAX_DAYS} days.`);
  if (days <= 1) return days === 1 ? 'today' : undefined;
  return `last_${days}_days`;
}

function wrongRange(fault: string): UserError {
  return new UserError(
    `${fault} The ranges are ${code('today')}, ${code('7d')}, ${code('30d')}, ${code('week')}, and any number of days such as ${code('90d')}.`,
    'help activity',
  );
}

/** A range of which the service has figures. @throws UserError for any other */
export function expectServiceRange(range: Range | undefined): ActivityRange | undefined {
  if (range === undefined || isServiceRange(range)) return range;
  const all = [code('today'), code('7d'), code('30d'), code('week')].join(', ');
  throw new UserError(`The service has no figures of the last ${countDays(range)} days. Choose from ${all}.`);
}
