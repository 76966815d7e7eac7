import { z } from 'zod';
import type { Role } from '../../core/choices.ts';
import { defined } from '../../core/json.ts';
import { type Audited, isDirect, type Message, mayRead } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { indexNames } from '../../core/names.ts';
import { Range } from '../../core/time/range.ts';
import { makeInvoiceUse } from '../../records/accounts.ts';
import type { KnownActivity } from '../../records/ledger.ts';
import type { Run } from '../../records/test-runs.ts';
import { beginTest } from '../../scheduler/test-access/start-test.ts';
import { OUTCOMES, readEventOutcome } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { documentDay, readState } from '../../service/invoices.ts';
import { skippedWords } from '../../views/blocks/lists.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { describeFailing } from '../../views/episodes/describe-episode.ts';
import { failingMessage, listOldAges } from '../../views/episodes/failing-message.ts';
import { describeOutage, listFailing } from '../../views/episodes/outage.ts';
import { invoicesMessage } from '../../views/invoices/invoice-messages.ts';
import { periodMessage, writeSums } from '../../views/invoices/period-message.ts';
import { PROJECTS_ON_PAGE, projectsMessage } from '../../views/projects/project-messages.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import { runMessage, targetWords } from '../../views/test-access/test-run.ts';
import { readActivity } from '../activity/list-activity.ts';
import type { CommandContext } from '../context.ts';
import { readPrivateList } from '../episodes/failing.ts';
import { readFailing, readFollowers } from '../episodes/read-failing.ts';
import { readInvoicePeriod } from '../invoices/list-invoices.ts';
import { readInvoices } from '../invoices/over-period.ts';
import { resolveAccount, resolveProject, resolveTestTarget } from '../targets/targets.ts';

export type ToolResult = Audited & {
  /** Facts that the assistant words for the person. */
  data: Record<string, unknown>;
  /** Tells the assistant what to ask next. */
  next: string;
  /** The same facts as Deckhand shows them elsewhere. */
  message: Message;
};

/** Something that Slack's assistant may do for a person: it reads or tests, and never creates or costs. */
export interface Tool {
  name: string;
  /** The assistant chooses the tool by this text. */
  description: string;
  /** The command with the same effect: its role and the channels that allow it count for the tool too. */
  command: string;
  role: Role;
  /** True if the tool starts something at the service. */
  isChange?: true;
  inputs: z.ZodObject;
  handle(inputs: unknown, context: CommandContext): Promise<ToolResult>;
}

interface ToolSpec<Inputs extends z.ZodObject> extends Omit<Tool, 'inputs' | 'handle'> {
  inputs: Inputs;
  handle(inputs: z.output<Inputs>, context: CommandContext): Promise<ToolResult>;
}

/** Keeps the types of `inputs` and `handle` together, and drops them outside. The account asked for is the context's. */
function defineTool<Inputs extends z.ZodObject>(spec: ToolSpec<Inputs>): Tool {
  return {
    ...spec,
    handle: async (inputs, context) =>
      spec.handle(spec.inputs.parse(inputs), { ...context, ...z.object({ account }).parse(inputs) }),
  };
}

/** An assistant reads no more than a person would. */
const MAX_ROWS = 100;
const MAX_NAME = 200;

const Name = z.string().trim().min(1).max(MAX_NAME);
const account = Name.optional().describe('The connected account. Left out: the default one');
const project = Name.optional().describe('The project’s permalink or name. Left out: the account’s only one');
const server = Name.optional().describe('The server’s identifier or name. Left out: the whole project');
const filter = Name.optional().describe('A part of the name of the projects. Left out: all of them');
const page = z.int().min(1).max(1_000).optional().describe('From 1. Left out: the first page');
const range = Range.optional().describe('Up to last_400_days. Left out: the last 7 days');
const anyProject = Name.optional().describe('The project’s permalink or name. Left out: the whole account');

const projects = defineTool({
  name: 'projects',
  description:
    'Lists the projects of the deployment account, 100 at a time, and when each was last deployed. If there is a next_page, ask for it, or name a part of the project’s name.',
  command: 'projects',
  role: 'member',
  inputs: z.object({ account, filter, page }),
  async handle({ filter, page = 1 }, context) {
    const used = await resolveAccount(context);
    const skipped: SkippedRows[] = [];
    const all = await context.workspace.projects.look(used, { skipped });
    const hits = new Set(filter === undefined ? all : (await indexNames(all)).search(filter));
    const matches = all.filter((project) => hits.has(project));
    const first = (page - 1) * MAX_ROWS;
    const rows = matches
      .slice(first, first + MAX_ROWS)
      .map(({ name, permalink, last_deployed_at }) => ({ name, permalink, last_deployed_at }));
    const isMore = matches.length > first + MAX_ROWS;
    const missing = unmarked(skippedWords(skipped));
    return {
      data: {
        account: used.name,
        projects: rows,
        ...(matches.length > rows.length ? { total: matches.length } : {}),
        ...(isMore ? { next_page: page + 1 } : {}),
        ...(missing === '' ? {} : { missing }),
      },
      next: isMore
        ? `Ask projects for page ${page + 1}, or with a filter, for the others.`
        : 'Ask test_access whether one can be reached, or activity for what was deployed.',
      message: projectsMessage(
        matches,
        { account: used.name, filter, page: rows.length === 0 ? 0 : Math.floor(first / PROJECTS_ON_PAGE) },
        context.workspace.word,
      ),
    };
  },
});

function nameOwner({ owner }: { owner?: string | undefined }): string | null {
  return owner === undefined ? null : `<@${owner}>`;
}

const failing = defineTool({
  name: 'failing',
  description:
    'Tells which projects fail or cannot be reached now, since when, and who is on it: in the conversation’s channel, else in all that the person may see.',
  command: 'failing',
  role: 'member',
  inputs: z.object({}),
  async handle(_, context) {
    const { invocation, workspace } = context;
    const { user } = invocation;
    // Nothing follows the conversation with the assistant, so it counts as no channel.
    const channel = isDirect(invocation.channel) ? undefined : invocation.channel;
    const now = await readFailing(workspace, user, channel);
    const followers = await readFollowers(workspace, user, channel);
    const list = await readPrivateList('failing', workspace, { user, channel });
    const paused = followers
      .filter(({ state }) => state.kind === 'paused')
      .map((one) => describeSchedule(one));
    const rows = now.failures.map(({ subject, episode, outage }) => ({
      project: outage === undefined ? subject.name : null,
      projects: outage && listFailing(outage).map((one) => one.subject.name),
      account: subject.account,
      what: unmarked(outage === undefined ? describeFailing(subject, episode) : describeOutage(outage)),
      since: new Date(episode.since).toISOString(),
      failures: subject.kind === 'deployments' ? episode.failures : 1,
      who_is_on_it: nameOwner(outage ?? episode),
      channel: subject.channel || null,
      tested: episode.diagnosis && unmarked(episode.diagnosis.line),
      unreachable: episode.items?.map(({ title, message }) => ({ name: title, reason: message })),
    }));
    return {
      data: {
        ...limitRows('failing', rows),
        closed_and_not_mended: now.settled.map(({ subject }) => subject.name).slice(0, MAX_ROWS),
        as_of: Object.fromEntries(
          now.ages.map(({ account: name, readAt }) => [name, new Date(readAt).toISOString()]),
        ),
        warnings: listOldAges(now.ages).map(unmarked),
        followed: followers.length,
        paused: paused.map(unmarked),
      },
      next:
        rows.length === 0
          ? 'Ask activity for what was deployed.'
          : 'Ask test_access whether a project can be reached, or activity for its deployments.',
      message: failingMessage(now, followers, { word: workspace.word, list, channel }),
    };
  },
});

/** How long the assistant waits for an outcome. */
const WAIT_MS = 15_000;
const LOOK_MS = 500;

const testAccess = defineTool({
  name: 'test_access',
  description:
    'Tests whether a project’s repository and servers can be reached. If it takes longer than 15 seconds, latest_run has the outcome.',
  command: 'test',
  role: 'member',
  isChange: true,
  inputs: z.object({ project, server, account }),
  async handle(requested, context) {
    const { workspace } = context;
    const target = await targetAsked(requested, context);
    const { requestId, user: requestedBy } = context.invocation;
    const until = workspace.clock.now() + WAIT_MS;
    const other = await beginTest(workspace, { requestId, target, requestedBy });
    const started = other === undefined ? 'started' : 'already running';
    while ((await workspace.runs.latest(target))?.status === 'running' && workspace.clock.now() < until)
      await workspace.clock.sleep(LOOK_MS);
    const name = [target.account, target.project.permalink, target.server?.name ?? []].flat().join('/');
    const result = await readLatestRun(target, context);
    return { ...result, data: { target: name, test: started, ...result.data }, audit: { target: name } };
  },
});

const latestRun = defineTool({
  name: 'latest_run',
  description:
    'Gives the latest test of a project or server: whether it goes on, what could be reached, and why the rest could not.',
  command: 'test',
  role: 'member',
  inputs: z.object({ project, server, account }),
  handle: async (requested, context) => readLatestRun(await targetAsked(requested, context), context),
});

async function readLatestRun(
  target: Run['target'],
  { invocation, workspace }: CommandContext,
): Promise<ToolResult> {
  const run = await workspace.runs.latest(target);
  if (run === undefined || !mayRead(invocation.user, { ...run, person: run.requestedBy }))
    return {
      data: { state: 'never tested with Deckhand' },
      next: 'Ask test_access for a test.',
      message: say(`${targetWords(target)} was never tested with Deckhand.`),
    };
  const isRunning = run.status === 'running';
  const next = isRunning ? 'Ask latest_run for the outcome in a minute.' : 'Ask test_access for a new test.';
  return { data: listFacts({ ...run, target }), next, message: runMessage({ ...run, target }) };
}

const activity = defineTool({
  name: 'activity',
  description: 'Lists what happened lately: deployments and other events, the newest first.',
  command: 'activity',
  role: 'member',
  inputs: z.object({ range, project: anyProject, account }),
  async handle(requested, context) {
    const { names, feed, message } = await readFeed(requested, false, context);
    const { events, unread } = feed;
    const rows = events.map(({ event, project: of, user, created_at: at, properties: { servers } }) => {
      return { event, project: of?.name ?? null, user, at, servers };
    });
    return {
      data: {
        ...names,
        ...limitRows('events', rows),
        ...(unread ? { unread } : {}),
        ...listMissing(feed),
      },
      next: 'Ask statistics for the figures, or failing for what fails now.',
      message,
    };
  },
});

const statistics = defineTool({
  name: 'statistics',
  description:
    'Gives the figures of deployments in a range, of the account or of a project: how many, and how many succeeded.',
  command: 'activity',
  role: 'member',
  inputs: z.object({ range, project: anyProject, account }),
  async handle(requested, context) {
    const { names, feed, message } = await readFeed(requested, true, context);
    // The service has figures of the whole account alone.
    const whole = { statistics: feed.stats ?? 'The service gave no figures.' };
    return {
      data: {
        ...names,
        deployments: countOutcomes(feed),
        ...listMissing(feed),
        ...('project' in names ? {} : whole),
      },
      next: 'Ask activity for the deployments themselves.',
      message,
    };
  },
});

const when = Name.optional().describe(
  'A span of time, e.g. q3, october, last quarter, 2026: sums of all accounts. Left out, the account’s list',
);
const unpaid = z.boolean().optional().describe('Only unpaid invoices, of all accounts');

const invoices = defineTool({
  name: 'invoices',
  description:
    'Lists the account’s invoices, or sums those of all accounts by account and currency. Private: show them to the person who asked alone.',
  command: 'invoices',
  role: 'billing',
  inputs: z.object({ account, when, unpaid }),
  async handle({ when: words, unpaid: isUnpaid = false }, context) {
    const next = `For PDFs or a CSV file the person types ${context.workspace.word} invoices.`;
    const isSummed = words !== undefined || isUnpaid;
    const used = isSummed ? undefined : await resolveAccount(context, makeInvoiceUse(context.invocation));
    const name = used?.name ?? context.account?.toLowerCase();
    const period = words === undefined ? {} : await readInvoicePeriod(words, context);
    const read = await readInvoices({ ...period, isUnpaid, ...defined({ account: name }) }, context);
    const rows = read.all.map(({ account: owner, invoice: { download_url: _, ...invoice } }) => ({
      // Without the address of the PDF, which only the account's key opens.
      ...invoice,
      account: owner,
      created_at: documentDay(invoice.created_at),
      paid_at: invoice.paid_at && documentDay(invoice.paid_at),
      state: readState({ ...invoice, download_url: null }),
    }));
    const list = limitRows('invoices', rows);
    if (used === undefined)
      return { data: { ...writeSums(read), ...list }, next, message: periodMessage(read) };
    const all = read.all.map(({ invoice }) => invoice);
    return { data: { account: used.name, ...list }, next, message: invoicesMessage(used.name, all) };
  },
});

export const TOOLS: readonly Tool[] = [
  projects,
  failing,
  testAccess,
  latestRun,
  activity,
  statistics,
  invoices,
];

async function readFeed(
  {
    range: requested = 'last_7_days',
    project: projectName,
  }: { range?: Range | undefined; project?: string | undefined },
  stats: boolean,
  context: CommandContext,
) {
  const zone = await context.workspace.home.zone(context.invocation.user);
  const { account: used, project: match } =
    projectName === undefined
      ? { account: await resolveAccount(context), project: undefined }
      : await resolveProject(context, projectName);
  const query = { account: used.name, range: requested, stats, zone, page: 0 };
  const names = { account: used.name, ...(match ? { project: match.name } : {}) };
  return { names, ...(await readActivity({ ...query, project: match }, context)) };
}

function countOutcomes({ events }: KnownActivity): Record<string, number> {
  const outcomes = events.map(({ event }) => readEventOutcome(event));
  const each = OUTCOMES.map(
    (outcome) => [outcome, outcomes.filter((one) => one === outcome).length] as const,
  );
  return { total: each.reduce((sum, [, amount]) => sum + amount, 0), ...Object.fromEntries(each) };
}

/** The times of the range whose events are not known. */
function listMissing({ since, gaps }: KnownActivity): Record<string, unknown> {
  const instant = (at: number): string => new Date(at).toISOString();
  return {
    ...(since === undefined ? {} : { counted_since: instant(since) }),
    ...(gaps.length === 0
      ? {}
      : { not_counted: gaps.map(({ from, to }) => ({ from: instant(from), to: instant(to) })) }),
  };
}

async function targetAsked(
  requested: { project?: string | undefined; server?: string | undefined },
  context: CommandContext,
): Promise<Run['target']> {
  const { account: used, project } = await resolveProject(context, requested.project);
  return resolveTestTarget(context, used, project, requested.server);
}

function listFacts(run: Run): Record<string, unknown> {
  const { target, status, repository, reachable, total, failing: items = [], startedAt, endedAt } = run;
  return {
    account: target.account,
    project: target.project.name,
    server: target.server?.name ?? null,
    state: status,
    repository: repository ?? null,
    servers_reachable: reachable ?? null,
    servers_tested: total ?? null,
    failing: items.map(({ title, message }) => ({ name: title, reason: message })),
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === undefined ? null : new Date(endedAt).toISOString(),
  };
}

/** The first rows, with the total number if there are more. */
function limitRows(name: string, rows: readonly object[]): Record<string, unknown> {
  const more = rows.length > MAX_ROWS ? { total: rows.length } : {};
  return { [name]: rows.slice(0, MAX_ROWS), ...more };
}
