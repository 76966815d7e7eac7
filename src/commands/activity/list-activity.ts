import { z } from 'zod';
import { deliver } from '../../cards/deliver.ts';
import { UserError } from '../../core/errors.ts';
import type { KnownBlock, Message, Reply } from '../../core/message.ts';
import { code, listFirst } from '../../core/mrkdwn.ts';
import { nameKey } from '../../core/names.ts';
import { computePeriods, isServiceRange, toServiceRange } from '../../core/time/range.ts';
import type { Account } from '../../records/accounts.ts';
import type { KnownActivity } from '../../records/ledger.ts';
import { type RecoveryFigures, readRecoveries } from '../../records/recoveries.ts';
import { makePersonKey } from '../../records/service-people.ts';
import { type ActivityEvent, countByDay, isFailure, readEventTime } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import {
  ActivityAsk,
  type ActivityAudience,
  activityMessage,
} from '../../views/activity/activity-message.ts';
import { withCharts } from '../../views/activity/chart.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { ServerNeeded } from '../../workspace/project-list.ts';
import { fetchActivity, readKnownActivity } from '../../workspace/read-activity.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { resolveProjectOrServer, splitProjectAndServer } from '../targets/resolve-target.ts';
import { findBoundProject, isEverything, namesProject, resolveServer } from '../targets/targets.ts';
import { DAY_WORDS, isOtherSpan, isOtherTime, readActivityWords, wrongRange } from './activity-words.ts';

/** The service's own default. API 4.9 (docs/service-api.md). */
const DEFAULT_RANGE = 'last_7_days';

export const activity = defineCommand({
  name: 'activity',
  phrase: 'shows what happened, and what fails now',
  synonyms: [
    'deployments',
    'deploys',
    'feed',
    'log',
    'logs',
    'events',
    'releases',
    'news',
    'timeline',
    'recent',
  ],
  shorthands: {
    blame: 'failed',
    'last week': 'last week',
    'last month': 'last month',
    'last night': 'yesterday',
    ...Object.fromEntries(
      `figures statistics stats report summary uptime compare comparison metrics kpis trends availability sla mttr dora
    numbers trend performance insights analytics`
        .split(/\s+/)
        .map((word) => [word, 'stats']),
    ),
  },
  phrases: {
    '(yesterday|today|week|month)': '$1',
    'last|latest|newest|recent failure|error|outage|incident of|for|in|on? *': 'failed $1',
    'last|latest failed|broken deploy|deployment|release|build of|for|in|on|to? *': 'failed $1',
    'incidents|outages|failures|problems|issues|errors (this|last|past|today|yesterday) *': 'failed $1 $2',
    'did|has|have|was + (today|yesterday) fail|failed|break|broken': 'failed $1 $2',
    'deploy|deployment|deployments frequency|rate|count|figures *': 'stats $1',
    'mean time to|between? recovery|recover|failure|failures of|for|on? *': 'stats $1',
    'compare|comparison this (week|month) with|to|and|against? last|past|previous week|month': 'stats $1',
    'give|show|get me|us? a|an? overview|summary|report|recap of|for|on|about +': 'stats $1',
    'how are things looking|going|doing *': 'stats',
    'any news|updates|changes *': '$1',
    'is|are everything|all deployed|released|shipped|live|out *': '',
    'when did|has|have + last? fail|failed|break|broken|crash|crashed *': 'failed $1',
    'top|most|worst|least|best failing|failed|active|stable|deployed projects|project|servers|server *':
      'stats',
    'deploys|deployments|releases per|a|each day|week|month *': 'stats',
    '+ deployments|deploys|releases': '$1',
    'chart|graph|figures of|for|on|from? *': 'stats $1',
    'show|see|get|draw me|us? the|a? chart|graph of|for|on|from? *': 'stats $1',
    'how stable|reliable|healthy is|are|was +': 'stats $1',
    'what|which project|projects|server|servers fails|fail|breaks|break most|often|least *': 'stats',
    'did|has|have everything|all deploy|deployed|work|worked|go|gone|ship|shipped *': '',
    'show|see|get|list me|us? (yesterday|today)': '$1',
    'show|see|get|list? me|us? errors|failures': 'failed',
    'show|see|get|list me|us? errors|failures|failed of|for|in|on +': 'failed $1',
    'error|errors|failure log|logs|list': 'failed',
    [`last|since|on|until|this? (yesterday|${DAY_WORDS}) *`]: '$1 $2',
    '(last|this|past) (week|month|quarter|year)': '$1 $2',
    'who is +': '$1',
    'did|has|have anyone|anybody|somebody|someone|we|you|they deploy|deployed|ship|shipped|release|released *':
      '$1',
    'who|what is deploying|running *': '',
    'any|is|are a|any|the|our? deploy|deploys|deployment|deployments|anyone|anybody|somebody running|deploying|ongoing|in|going *':
      '',
    'deploying now?': '',
    'what|anything happened|changed|broke|deployed? last night *': 'yesterday $1',
    'what|anything happened|changed|happening|occurred|else|new *': '$1',
    'what is|was new|going|happening|up|on|latest on? *': '$1',
    'what did + deploy|deployed|do|ship|push|release *': '$1 $2',
    'what|which|who did|has|have|were|was|got|versions? been|we? deploy|deployed|released|shipped|ship +':
      '$1',
    'who deployed|deploys|deploying|did|released|shipped|pushed what?': '',
    'who deployed|deploys|deploying|released|shipped|pushed today|yesterday|recently|last|lately|latest': '',
    'how many|often deploys|deployments|releases|failures|times *': 'stats $1',
    'how many|often deploys|deployments|releases|failures did|do|have|has|were we|you|they|i|there? have|been|had|do|get|happen? *':
      'stats $1',
    'how often *': 'stats',
    'how many + failed|fail|broke *': 'failed $2',
    'how are|did we|things|deployments|deploys doing|do|going|go *': 'stats $1',
    'how is|was it|everything|today|yesterday going|looking|doing?': 'stats',
    'what|which|who|anything failed|fail|broke|crashed|errored *': 'failed $1',
    'what|which deployments|deploys|projects|builds|releases failed|broke|fail *': 'failed $1',
    'what|anything went|gone|goes wrong *': 'failed $1',
    'did|has|have anything|something|everything|it|any|a|deployment|deploy fail|failed|break|broken|broke *':
      'failed $1',
    'did + fail|break|crash|error *': 'failed $1 $2',
    'who broke|killed|crashed|failed|messed *': 'failed $1',
    'failed|failures|failing|broken|unsuccessful|errors|error|red deploys|deployments|builds|runs|releases *':
      'failed $1',
    'failures|failed|errors|fails|broken +': 'failed $1',
    '+ failures|failed|errors': 'failed $1',
    'deploys|deployments|deployment|releases|changes by|of|for|from|on +': '$1',
    'report|summary|overview|stats|uptime|metrics|comparison|compare|trend|numbers|figures of|for|on|about|with *':
      'stats $1',
    'compare|summarize|summarise|analyze|analyse *': 'stats $1',
    'success|failure|change|error|deployment rate|rates|frequency|ratio *': 'stats $1',
    'mean|average time|duration|recovery *': 'stats $1',
    'my deploys|deployments|activity|releases|changes *': 'me $1',
    'what did i deploy|ship|do|push|break *': 'me $1',
    'log|logs|changes|changelog|diff of|for|on|from? *': '$1',
    'release|change|deploy|deployment notes|log|logs|changes of|for|on? *': '$1',
    'average|mean|median|typical|slowest|fastest|longest|shortest deploy|deploys|deployment|deployments|build|builds|recovery *':
      'stats',
    'how long do|does|did a|the|our? deploy|deploys|deployment|deployments|build|builds take|last *': 'stats',
    'lead|cycle|deploy|recovery time|times *': 'stats $1',
  },
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
  async handle(args, context, { account }) {
    const ask = await findAsk(context, account, args, DEFAULT_RANGE);
    return replyPrivately(await showPrivately({ ...ask, stats: args.stats ?? ask.stats }, context));
  },
  actions: [
    defineButton(ActivityAsk, {
      actionId: 'activity:page',
      handle: async (query, context) => replyInPlace(await showPrivately(query, context)),
    }),
    defineButton(ActivityAsk, { actionId: 'activity:share', once: true, durable: true, handle: share }),
  ],
});

/** Holds yesterday, from which today's events are taken. */
const YESTERDAY_RANGE = 'last_2_days';

/** How far back a history goes if nobody says. */
const HISTORY_RANGE = 'last_90_days';

export const history = defineCommand({
  name: 'history',
  phrase: 'lists deployments, the newest first',
  synonyms: ['history of', 'deployment history', 'past', 'previous deployments', 'git log'],
  phrases: {
    'deployment|deploy|release history of|for? *': '$1',
    'all|list|past|previous|older|earlier|last deployments|deploys|releases of|for|on? *': '$1',
    'previous|earlier|older|past version|versions|revision|revisions|release|commit|deployment of|for|on|in? *':
      '$1',
    'last|latest|recent deployments|deploys|releases|changes of|for|on? *': '$1',
  },
  summary: 'Lists the deployments of a project, a server or a person',
  usage: '[project] [server] [range]',
  examples: ['history storefront', 'history web-2', 'history storefront web-2 30d', 'history kim 1y'],
  role: 'member',
  target: 'account',
  rest: true,
  flags: ['project'],
  args: z.object({ words: z.string().optional(), project: z.string().optional() }),
  async handle(args, context, { account }) {
    const ask = await findAsk(context, account, args, HISTORY_RANGE);
    return replyPrivately(await showPrivately({ ...ask, isHistory: true }, context));
  },
});

async function findAsk(
  context: CommandContext,
  account: Account,
  args: { words?: string | undefined; project?: string | undefined },
  usualRange: ActivityAsk['range'],
): Promise<ActivityAsk> {
  const words = readActivityWords(args.words?.split(' ') ?? []);
  const { range = usualRange, stats, isFailed, isYesterday } = words;
  const [zone, subject] = await Promise.all([
    readZone(context.workspace, context.invocation.user),
    findSubject(context, account, args.project ?? words.project),
  ]);
  const day = isYesterday && ({ range: YESTERDAY_RANGE, isYesterday } as const);
  return {
    account: account.name,
    range,
    stats,
    zone,
    page: 0,
    ...(isFailed && { isFailed }),
    ...day,
    ...subject,
  };
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
  if (isEverything(name) && !(await namesProject(context, account, name))) return {};
  try {
    const both = name.includes(' ') ? await splitProjectAndServer(context, account, name) : undefined;
    const match = await resolveProjectOrServer(context, both?.project ?? name);
    const { account: used, project, server = both?.server } = match;
    if (server === undefined) return { account: used.name, project };
    return { account: used.name, project, server: await resolveServer(context, used, project, server) };
  } catch (error) {
    if (error instanceof UserError || error instanceof ServerNeeded)
      return { people: await expectPeople(context, account, name, error) };
    throw error;
  }
}

/**
 * People of a name that no project has.
 * @throws UserError if the words are a time, else the error of the search for a project
 */
async function expectPeople(
  context: CommandContext,
  account: Account,
  name: string,
  error: UserError | ServerNeeded,
): Promise<string[]> {
  const span = name.split(' ').find(isOtherSpan);
  if (span !== undefined) throw wrongRange(`There is no range ${code(span, 40)}.`);
  const people = await findPeople(context, account, name);
  if (people.length > 0) return people;
  throw isOtherTime(name) ? wrongRange(`There is no range ${code(name, 40)}.`) : error;
}

const MENTION = /^<?@([UW][A-Z0-9]+)(?:\|[^<>]*)?>?$/;
const ASKER: ReadonlySet<string> = new Set(['i', 'me', 'mine', 'my', 'myself']);

/**
 * Names at the service of the person whom words name: a whole name, a part of one, or a person in Slack.
 * @throws UserError if several people have the name
 */
async function findPeople(
  { invocation, workspace }: CommandContext,
  account: Account,
  words: string,
): Promise<string[]> {
  const page = await fetchActivity(workspace, account, { range: 'last_30_days', stats: false });
  const query = { range: HISTORY_RANGE, zone: 'UTC' } as const;
  const { events } = await readKnownActivity(workspace, account, query, page);
  const all = [...new Set(events.flatMap(({ user }) => user ?? []))];
  const isAsker = ASKER.has(words.toLowerCase());
  const slackUser = isAsker ? invocation.user : MENTION.exec(words)?.[1];
  if (slackUser !== undefined) {
    const mentions = await workspace.names.mentions(account.name);
    const own = all.filter((name) => mentions.get(makePersonKey(name)) === slackUser);
    if (own.length === 0 && isAsker)
      throw new UserError(`Deckhand does not know which name in ${code(account.name)} is yours.`, 'me');
    return own;
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
      )}. Name one of them in full.`,
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

/** Only the failed deployments, or only those of yesterday, if the person asked for them alone. */
function selectEvents(
  events: readonly ActivityEvent[],
  { isFailed, isYesterday, zone }: ActivityAsk,
  now: number,
): ActivityEvent[] {
  const { from: today } = computePeriods('today', zone, now);
  return events.filter(
    (event) => (!isFailed || isFailure(event.event)) && (!isYesterday || readEventTime(event) < today),
  );
}

/** A feed, with the rows that could not be read. */
type Feed = KnownActivity & { skipped: readonly SkippedRows[]; recovery: RecoveryFigures | undefined };

function draw(
  query: ActivityAsk,
  feed: Feed,
  audience: ActivityAudience,
  { workspace }: CommandContext,
): Message {
  const { pages } = workspace;
  const message = (chart?: KnownBlock): Message =>
    withSkipped(
      activityMessage(query, feed, audience, { chart, recovery: feed.recovery, pages }),
      feed.skipped,
    );
  if (!query.stats) return message();
  const data = countByDay(query, feed, workspace.clock.now());
  return withCharts(new Map([[query.account, data]]), (charts) => message(charts.get(query.account)));
}

async function fetchFeed(query: ActivityAsk, { invocation, workspace }: CommandContext): Promise<Feed> {
  const account = await workspace.accounts.resolve(invocation, query.account);
  const skipped: SkippedRows[] = [];
  const { range, zone, project, server, stats } = query;
  const isCounted = project !== undefined || query.people !== undefined || !isServiceRange(range);
  // The service's figures are those of the whole account.
  const request = { range: toServiceRange(range), stats: stats && !isCounted };
  const page = await fetchActivity(workspace, account, request, { skipped });
  const isCompared = stats && isCounted;
  const whole = await readKnownActivity(workspace, account, { ...query, isCompared }, page);
  const feed = { ...whole, events: selectEvents(whole.events, query, workspace.clock.now()) };
  const of = project && server === undefined && { account: account.name, project };
  const periods = computePeriods(range, zone, workspace.clock.now());
  const [recovery] =
    of && stats ? await readRecoveries(workspace, { periods, of, channel: invocation.channel }) : [];
  return { ...feed, skipped, recovery };
}
