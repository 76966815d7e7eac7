import process from 'node:process';
import type { MonthAccount, MonthAsked, MonthChannel, Traffic } from './peers/month.ts';
import { ACCOUNT, checkouts } from './support/deckhand.ts';
import {
  CLIENTS,
  END,
  listClientProjects,
  nameClient,
  type Plan,
  planAgency,
  planTeam,
  TEAM_PROJECTS,
} from './support/month-plan.ts';
import { startProgram } from './support/processes.ts';
import { printTable } from './support/tables.ts';

const DEPLOYS: MonthChannel = { id: 'C0DEPLOYS', name: 'deploys' };
const ONCALL: MonthChannel = { id: 'C0ONCALL', name: 'oncall' };
const NORTH = ACCOUNT;
const SOUTH = 'south';
const DAY_MS = 86_400_000;

const MONTHS: Readonly<Record<string, () => Month>> = { team: teamMonth, agency: agencyMonth };
const CHOSEN = (process.env.MONTHS ?? 'team,agency').split(',');

type Ask = <T>(asked: MonthAsked) => Promise<T>;

interface Month {
  name: string;
  accounts: MonthAccount[];
  channels: MonthChannel[];
  plan: Plan;
  /** What is set up first: a channel and the words after the slash command. */
  lines: Array<readonly [MonthChannel, string]>;
  /** Channels that are counted together, by the name of their row. */
  kinds: Record<string, MonthChannel[]>;
  /** Asked at the end: a project, the channel to ask in, and its account. */
  subjects: Array<{ project: string; channel: MonthChannel; account?: string }>;
  digests: Array<{ channel: MonthChannel; project?: string; name: string }>;
}

/** What the scripted months of a team and of an agency come to, beside those of another checkout. */
export async function months(): Promise<void> {
  for (const name of CHOSEN) {
    const month = MONTHS[name]?.();
    if (month !== undefined) await compare(month);
  }
}

async function compare(month: Month): Promise<void> {
  const traffic: string[][] = [];
  const figures = new Map<string, string[]>();
  for (const [name, root] of Object.entries(checkouts())) {
    const env = root === undefined ? {} : { CHECKOUT: root };
    const program = await startProgram('bench/peers/month.ts', env);
    const ask: Ask = (asked) => program.ask(asked);
    try {
      await play(ask, month);
      for (const [kind, channels] of Object.entries(month.kinds))
        traffic.push([name, kind, ...(await countAll(ask, channels))]);
      for (const { what, truth, text } of await readFigures(ask, month))
        figures.set(what, [...(figures.get(what) ?? [truth]), text]);
    } finally {
      await program.end();
    }
  }
  console.log(`### ${month.name}\n`);
  printTable(['candidate', 'channels', 'roots', 'replies', 'edits', 'mentions'], traffic);
  console.log();
  const rows = [...figures].map(([what, texts]) => [what, ...texts]);
  printTable(['question', 'true', ...Object.keys(checkouts())], rows);
  console.log();
}

async function play(ask: Ask, { accounts, channels, plan, lines }: Month): Promise<void> {
  await ask({ kind: 'open', accounts, channels, plan });
  for (const [{ id }, line] of lines) await type(ask, id, line);
  await ask({ kind: 'play', plan, channel: DEPLOYS.id });
}

/** Ranges that older checkouts have in place of "since the last digest". */
const OLDER: Readonly<Record<string, string>> = { daily: 'today', weekly: 'last_7_days' };

async function type(ask: Ask, channel: string, line: string): Promise<void> {
  const answer = await ask<string>({ kind: 'type', channel, line });
  // A refusal names the word.
  if (answer !== '' && !answer.includes('`since_last`')) return;
  const older = line.replace('since_last', OLDER[/daily|weekly/.exec(line)?.[0] ?? ''] ?? '');
  const again = older === line ? '' : await ask<string>({ kind: 'type', channel, line: older });
  if (again === '') throw new Error(`${line}: ${answer.slice(0, 300)}`);
}

async function countAll(ask: Ask, channels: readonly MonthChannel[]): Promise<string[]> {
  const sum: Traffic = { roots: 0, replies: 0, edits: 0, mentions: 0 };
  for (const { id } of channels) {
    const one = await ask<Traffic>({ kind: 'count', channel: id });
    for (const key of Object.keys(sum) as Array<keyof Traffic>) sum[key] += one[key];
  }
  return Object.values(sum).map(String);
}

function teamMonth(): Month {
  return {
    name: 'A team',
    accounts: [{ name: NORTH, projects: TEAM_PROJECTS }],
    channels: [DEPLOYS, ONCALL],
    plan: planTeam(NORTH),
    lines: [
      [DEPLOYS, 'watch all'],
      [DEPLOYS, 'digest add daily 18:00 UTC since_last'],
      [ONCALL, 'watch all failures --mention <!subteam^S0ONCALL|oncall> --after 15m'],
      ...TEAM_PROJECTS.slice(0, 3).map((project) => [ONCALL, `guard add ${project} hourly`] as const),
      [ONCALL, 'digest add weekly:mon 09:00 UTC since_last'],
    ],
    kinds: { '#deploys': [DEPLOYS], '#oncall': [ONCALL] },
    subjects: TEAM_PROJECTS.map((project) => ({ project, channel: DEPLOYS })),
    digests: [
      { channel: DEPLOYS, name: 'daily digests' },
      { channel: ONCALL, name: 'weekly digests' },
    ],
  };
}

function agencyMonth(): Month {
  const clients = Array.from({ length: CLIENTS }, (_, at) => ({
    account: at % 2 === 0 ? NORTH : SOUTH,
    projects: listClientProjects(at),
    channel: { id: `C0CLIENT${at + 10}`, name: `client-${nameClient(at)}` },
  }));
  const projectsOf = (name: string): string[] =>
    clients.filter(({ account }) => account === name).flatMap(({ projects }) => projects);
  return {
    name: 'An agency',
    accounts: [NORTH, SOUTH].map((name) => ({ name, projects: projectsOf(name) })),
    channels: [DEPLOYS, ...clients.map(({ channel }) => channel)],
    plan: planAgency([NORTH, SOUTH]),
    lines: [
      ...[NORTH, SOUTH].map((account) => [DEPLOYS, `watch all failures --account ${account}`] as const),
      ...clients.flatMap(({ channel, account, projects: [first] }) =>
        [
          `watch ${first} failures`,
          `guard add ${first} daily 07:00 UTC`,
          `digest add weekly:mon 09:00 UTC since_last --project ${first}`,
        ].map((line) => [channel, `${line} --account ${account}`] as const),
      ),
    ],
    kinds: { '#deploys': [DEPLOYS], '40 clients': clients.map(({ channel }) => channel) },
    subjects: clients
      .slice(0, 8)
      .flatMap(({ channel, account, projects }) =>
        projects.slice(0, 1).map((project) => ({ project, channel, account })),
      ),
    digests: clients
      .slice(0, 8)
      .map(({ channel, projects: [project = ''] }) => ({ channel, project, name: `digests of ${project}` })),
  };
}

interface Row {
  what: string;
  truth: string;
  text: string;
}

/** Questions, what is true, and what Deckhand says. */
async function readFigures(ask: Ask, month: Month): Promise<Row[]> {
  const question = (channel: MonthChannel, line: string): Promise<string> =>
    ask({ kind: 'type', channel: channel.id, line, isQuestion: true });
  return [
    ...(await askProjects(question, month)),
    await askFailing(question, month),
    ...(await askElsewhere(question, month)),
    ...(await sumAllDigests(ask, month)),
  ];
}

type Question = (channel: MonthChannel, line: string) => Promise<string>;

async function askProjects(question: Question, { plan, subjects }: Month): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { project, channel, account } of subjects) {
    const own = account === undefined ? project : `${project} --account ${account}`;
    const figures = findTotals(await question(channel, `activity 30d stats ${own}`))[0];
    rows.push({
      what: `activity 30d stats ${project}`,
      truth: tell(countTrue(plan, project)),
      text: figures ?? 'nothing',
    });
    const good = plan.deployments.findLast((one) => one.project === project && one.succeeded);
    const text = await question(channel, `last ${own}`);
    rows.push({
      what: `last ${project}`,
      truth: good?.ref.slice(0, 7) ?? 'none',
      text: /\b[0-9a-f]{7}\b/.exec(text)?.[0] ?? 'none',
    });
  }
  return rows;
}

async function askFailing(question: Question, month: Month): Promise<Row> {
  const text = await question(DEPLOYS, 'failing');
  const [, closed = '0'] = /(\d+) (?:more )?(?:was|were) closed/.exec(text) ?? [];
  const more = closed === '0' ? '' : `, ${closed} closed`;
  const { failing, closed: settled } = month.plan;
  const truth = `${failing.toSorted().join(' ')}${settled === 0 ? '' : `, ${settled} closed`}`;
  return { what: 'failing', truth, text: `${listNames(text, month) || 'nothing'}${more}` };
}

/** A project that is named in the channel of another account's client. */
async function askElsewhere(question: Question, { subjects: [here, other] }: Month): Promise<Row[]> {
  if (here?.account === undefined || other?.account === undefined) return [];
  const text = await question(here.channel, `activity 30d ${other.project}`);
  const what = `activity 30d ${other.project}, of the other account`;
  return [{ what, truth: 'found', text: describeFound(text, other.account) }];
}

async function sumAllDigests(ask: Ask, { plan, digests }: Month): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { channel, project, name } of digests) {
    const texts = await ask<string[]>({ kind: 'read', channel: channel.id });
    const all = texts.filter((text) => /Deployment digest/.test(text.slice(0, 200)));
    const truth = tell(countTrue(plan, project, readLastDigest(name)));
    rows.push({ what: `${name}, summed`, truth, text: sumDigests(all) });
    const amount = all.filter((text) => text.includes('unreachable for')).length;
    if (project === undefined)
      rows.push({ what: `${name} with the outage that a guard found`, truth: '1', text: String(amount) });
  }
  return rows;
}

interface Totals {
  total: number;
  failed: number;
}

const tell = ({ total, failed }: Totals): string => `${total}, ${failed} failed`;

function countTrue({ deployments }: Plan, project: string | undefined, until = END): Totals {
  const own = deployments.filter((one) => (project ?? one.project) === one.project && one.at <= until);
  return { total: own.length, failed: own.filter(({ succeeded }) => !succeeded).length };
}

/** Weekly digests come on Mondays at nine, daily ones at six. */
function readLastDigest(name: string): number {
  const midnight = Math.floor(END / DAY_MS) * DAY_MS;
  if (name.startsWith('daily')) return midnight + 18 * 3_600_000;
  const monday = midnight - ((new Date(END).getUTCDay() + 6) % 7) * DAY_MS;
  return monday + 9 * 3_600_000;
}

const AMOUNTS = /([\d,]+) deployments?: ([^"\\.<\n]*)/g;

/** "42, 3 failed", for each place of a text that says so. */
function findTotals(text: string): string[] {
  return [...text.matchAll(AMOUNTS)].map(([, total = '', parts = '']) =>
    tell({ total: toNumber(total), failed: toNumber(/([\d,]+) failed/.exec(parts)?.[1] ?? '0') }),
  );
}

function toNumber(text: string): number {
  return Number(text.replaceAll(',', ''));
}

/** Each digest counts once: its first figures. */
function sumDigests(texts: readonly string[]): string {
  let [total, failed] = [0, 0];
  for (const text of texts) {
    const [first] = [...text.matchAll(AMOUNTS)];
    total += toNumber(first?.[1] ?? '0');
    failed += toNumber(/([\d,]+) failed/.exec(first?.[2] ?? '')?.[1] ?? '0');
  }
  return `${tell({ total, failed })} in ${texts.length}`;
}

function listNames(text: string, { accounts }: Month): string {
  const names = accounts.flatMap(({ projects }) => projects);
  return names
    .filter((name) => new RegExp(`\\b${name}\\b`).test(text))
    .toSorted()
    .join(' ');
}

function describeFound(text: string, account: string): string {
  if (/There is no project/.test(text))
    return /Did you mean/.test(text) ? 'no, another one is offered' : 'no';
  return text.includes(account) ? 'found, and named' : 'something else';
}
