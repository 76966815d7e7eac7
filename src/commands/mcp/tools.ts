import { z } from 'zod';
import type { Role } from '../../core/choices.ts';
import { type Audited, mayRead } from '../../core/message.ts';
import { forInvoices } from '../../records/accounts.ts';
import type { Run } from '../../records/test-runs.ts';
import { beginTest } from '../../scheduler/test-access/start-test.ts';
import { ACTIVITY_RANGES, getActivity } from '../../service/activity.ts';
import { documentDay, listInvoices } from '../../service/invoices.ts';
import type { CommandContext } from '../command.ts';
import { accountOf, projectOf, targetOf } from '../targets/targets.ts';

/** What a tool gives back: data for the assistant, which words it for the person. */
export type ToolResult = Audited & { data: Record<string, unknown> };

/** Something that Slack's assistant may do for a person: it reads or tests, and never creates or costs. */
export interface Tool {
  name: string;
  /** What the assistant chooses it by. */
  description: string;
  /** The command that it stands for: its role, and the channels that allow it, count for the tool too. */
  command: string;
  role: Role;
  /** True where it starts something at the service. */
  isChange?: true;
  inputs: z.ZodObject;
  run(inputs: unknown, context: CommandContext): Promise<ToolResult>;
}

interface ToolSpec<Inputs extends z.ZodObject> extends Omit<Tool, 'inputs' | 'run'> {
  inputs: Inputs;
  run(inputs: z.output<Inputs>, context: CommandContext): Promise<ToolResult>;
}

/** Keeps the types of `inputs` and `run` together, and drops them outside. The account asked for is the context's. */
function defineTool<Inputs extends z.ZodObject>(spec: ToolSpec<Inputs>): Tool {
  return {
    ...spec,
    run: async (inputs, context) =>
      spec.run(spec.inputs.parse(inputs), { ...context, ...z.object({ account }).parse(inputs) }),
  };
}

/** An assistant reads no more than a person would. */
const MAX_ROWS = 100;
const MAX_NAME = 200;

const Name = z.string().trim().min(1).max(MAX_NAME);
const account = Name.optional().describe('The connected account; left out, the default one');
const project = Name.optional().describe('The project’s permalink or name; left out, the account’s only one');
const server = Name.optional().describe('The server’s identifier or name; left out, the whole project');
const range = z.enum(ACTIVITY_RANGES).optional().describe('left out, the last 7 days');

const projects = defineTool({
  name: 'projects',
  description: 'Lists the projects of the deployment account, and when each was last deployed.',
  command: 'projects',
  role: 'member',
  inputs: z.object({ account }),
  async run(_, context) {
    const used = await accountOf(context);
    const all = await context.workspace.projects.look(used);
    const rows = all.map(({ name, permalink, last_deployed_at }) => ({ name, permalink, last_deployed_at }));
    return { data: { account: used.name, ...rowsOf('projects', rows) } };
  },
});

const testAccess = defineTool({
  name: 'test_access',
  description:
    'Starts a test of whether a project’s repository and servers can be reached. It takes a while: latest_run has the outcome.',
  command: 'test',
  role: 'member',
  isChange: true,
  inputs: z.object({ project, server, account }),
  async run(asked, context) {
    const target = await targetAsked(asked, context);
    const { requestId, user: askedBy } = context.caller;
    const other = await beginTest(context.workspace, { requestId, target, askedBy });
    const name = [target.account, target.project.permalink, target.server?.name ?? []].flat().join('/');
    const state = other === undefined ? 'started' : 'already running';
    return { data: { target: name, state, next: 'latest_run has the outcome.' }, audit: { target: name } };
  },
});

const latestRun = defineTool({
  name: 'latest_run',
  description: 'Gives the latest test of a project or server: whether it goes on, and what could be reached.',
  command: 'test',
  role: 'member',
  inputs: z.object({ project, server, account }),
  async run(asked, context) {
    const target = await targetAsked(asked, context);
    const run = await context.workspace.runs.latest(target);
    const isShown = run !== undefined && mayRead(context.caller.user, { ...run, person: run.askedBy });
    return { data: isShown ? factsOf({ ...run, target }) : { state: 'never tested with Deckhand' } };
  },
});

const activity = defineTool({
  name: 'activity',
  description: 'Lists what happened lately: deployments and other events, the newest first.',
  command: 'activity',
  role: 'member',
  inputs: z.object({ range, account }),
  async run(asked, context) {
    const used = await accountOf(context);
    const { events, unread } = await context.workspace.accounts.use(used, (client) =>
      getActivity(client, { range: asked.range }),
    );
    const rows = events.map(({ event, project: of, user, created_at: at, properties: { servers } }) => {
      return { event, project: of?.name ?? null, user, at, servers };
    });
    return { data: { account: used.name, ...rowsOf('events', rows), ...(unread ? { unread } : {}) } };
  },
});

const statistics = defineTool({
  name: 'statistics',
  description:
    'Gives the figures of deployments in a range: how many, how many succeeded, how long they took.',
  command: 'activity',
  role: 'member',
  inputs: z.object({ range, account }),
  async run(asked, context) {
    const used = await accountOf(context);
    const { stats } = await context.workspace.accounts.use(used, (client) =>
      getActivity(client, { range: asked.range, stats: true }),
    );
    return { data: { account: used.name, statistics: stats ?? 'The service gave no figures.' } };
  },
});

const invoices = defineTool({
  name: 'invoices',
  description:
    'Lists the account’s invoices, the newest first. Private: show them to the person who asked alone.',
  command: 'invoices',
  role: 'billing',
  inputs: z.object({ account }),
  async run(_, context) {
    const used = await accountOf(context, forInvoices(context.caller));
    const all = await context.workspace.accounts.use(used, (client) => listInvoices(client));
    // Without the address of the PDF, which only the account's key opens.
    const rows = all.map(({ download_url: _, created_at, paid_at, ...invoice }) => ({
      ...invoice,
      created_at: documentDay(created_at),
      paid_at: paid_at && documentDay(paid_at),
    }));
    return { data: { account: used.name, ...rowsOf('invoices', rows) } };
  },
});

export const TOOLS: readonly Tool[] = [projects, testAccess, latestRun, activity, statistics, invoices];

async function targetAsked(
  asked: { project?: string | undefined; server?: string | undefined },
  context: CommandContext,
): Promise<Run['target']> {
  const { account: used, project: found } = await projectOf(context, asked.project);
  return targetOf(context, used, found, asked.server);
}

function factsOf(run: Run): Record<string, unknown> {
  const { target, status, repository, reachable, total, startedAt, endedAt } = run;
  return {
    account: target.account,
    project: target.project.name,
    server: target.server?.name ?? null,
    state: status,
    repository: repository ?? null,
    servers_reachable: reachable ?? null,
    servers_tested: total ?? null,
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === undefined ? null : new Date(endedAt).toISOString(),
  };
}

/** The first of them, and how many there are where that is not all. */
function rowsOf(name: string, rows: readonly object[]): Record<string, unknown> {
  const more = rows.length > MAX_ROWS ? { total: rows.length } : {};
  return { [name]: rows.slice(0, MAX_ROWS), ...more };
}
