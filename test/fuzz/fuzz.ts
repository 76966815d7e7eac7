import { request } from 'node:http';
import fc from 'fast-check';
import { DEMO_USERS } from '../../sandbox/service/seed/demo-facts.ts';
import { freePort } from '../support/free-port.ts';
import { openProxy, type ServiceProxy } from '../support/proxy.ts';
import { sendSigned } from '../support/signed.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import { answerChange, type FuzzCase, type FuzzDoor, fuzzCase } from './cases.ts';

export interface FuzzOptions {
  cases: number;
  seed: number;
  /** Where a failed run got to, to repeat its last batch alone. */
  path?: string | undefined;
  /** After each thousand cases. */
  onProgress?: (done: number, memoryMb: number) => void;
}

/** What came of it; everything but `statuses` should be empty. */
export interface FuzzReport {
  statuses: Record<FuzzDoor, Record<number, number>>;
  /** Deckhand ended; by whatever. */
  crashed: boolean;
  /** Lines of the log that tell of a failure nobody handled. */
  unhandled: string[];
  /** Resident memory in MB, after each tenth. */
  memoryMb: number[];
  /** It still answers a person at the end. */
  answers: boolean;
}

/** At once, as a busy workspace would. */
const BATCH = 25;
const TENTHS = 10;

/**
 * Throws malformed requests at a Deckhand process, while the service behind it answers nonsense.
 * @throws where one is answered with a 5xx, with the smallest batch that does it
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { slack, service, logs, createProduct, close } = await openSurroundings({ seed: 'demo', speed: 20 });
  const proxy = await openProxy();
  proxy.target = service.origin;
  const port = String(await freePort());
  const statuses = { slack: {}, mcp: {}, metrics: {} };
  const report: FuzzReport = { statuses, crashed: false, unhandled: [], memoryMb: [], answers: false };
  const product = createProduct({
    SERVICE_BASE_URL: `${proxy.origin}/{account}`,
    LOG_LEVEL: 'error',
    MCP: 'on',
    METRICS_PORT: port,
  });
  const origin = `http://127.0.0.1:${await product.start()}`;
  const metrics = `http://127.0.0.1:${port}`;
  slack.deliverTo(`${origin}/slack/events`);
  try {
    await connect(slack);
    await throwAll(options, report, { slack, origin, metrics }, proxy);
    proxy.change = (body) => body;
    report.answers = await stillAnswers(slack);
  } finally {
    await product.stop();
    await Promise.all([close(), proxy.close()]);
  }
  report.unhandled = logs.filter((line) => line.includes('"event":"unhandled_rejection"'));
  return report;
}

type Slack = Surroundings['slack'];

async function connect(slack: Slack): Promise<void> {
  const { account, email, apiKey } = DEMO_USERS.admin;
  const ann = slack.as(TEAM, PEOPLE.admin);
  await ann.command(CHANNEL, '/deckhand connect');
  await slack.until(() => ann.openView()?.content.callback_id === 'connect');
  await ann.submit('connect', { account, email, api_key: apiKey });
}

interface Doors {
  slack: Slack;
  origin: string;
  /** The port of metrics. */
  metrics: string;
}

async function throwAll(
  { cases, seed, path, onProgress }: FuzzOptions,
  report: FuzzReport,
  doors: Doors,
  proxy: ServiceProxy,
): Promise<void> {
  let done = 0;
  const batch = fc.tuple(fc.array(fuzzCase, { minLength: BATCH, maxLength: BATCH }), answerChange);
  await fc.assert(
    fc.asyncProperty(batch, async ([requests, change]) => {
      proxy.change = change;
      const statuses = await Promise.all(requests.map((one) => statusOf(doors, one, report)));
      for (const [at, { door }] of requests.entries()) {
        const { [door]: counts } = report.statuses;
        const status = statuses[at] ?? 0;
        counts[status] = (counts[status] ?? 0) + 1;
      }
      const before = done;
      done += requests.length;
      if (passes(before, done, cases / TENTHS)) report.memoryMb.push(await memoryOf(doors.metrics));
      if (passes(before, done, 1000)) onProgress?.(done, report.memoryMb.at(-1) ?? 0);
      forgetOldMessages(doors.slack);
      const failed = statuses.findIndex((status) => status >= 500);
      if (failed !== -1) throw new Error(`${statuses[failed]} to ${JSON.stringify(requests[failed])}`);
    }),
    { numRuns: Math.ceil(cases / BATCH), seed, endOnFailure: true, ...(path === undefined ? {} : { path }) },
  );
}

async function statusOf(to: Doors, one: FuzzCase, report: FuzzReport): Promise<number> {
  try {
    if (one.door === 'metrics') return await probe(to.metrics, one);
    const path = one.door === 'mcp' ? '/mcp' : '/slack/events';
    return (await sendSigned(to, one.body, { type: one.type, path })).status;
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    if (isGone) report.crashed = true;
    // A header that cannot be sent at all, or a connection that was cut over a body that is too large.
    return isGone ? 599 : 0;
  }
}

/** Its path as it is, however odd. */
function probe(origin: string, one: Extract<FuzzCase, { door: 'metrics' }>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = request({ hostname, port, path: one.path, method: one.method }, (answer) => {
      answer
        .on('end', () => resolve(answer.statusCode ?? 0))
        .on('error', reject)
        .resume();
    });
    sent.on('error', reject).end(['GET', 'HEAD'].includes(one.method) ? undefined : one.body);
  });
}

function passes(before: number, after: number, step: number): boolean {
  return Math.floor(before / step) < Math.floor(after / step);
}

async function memoryOf(origin: string): Promise<number> {
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  const bytes = /^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1];
  return Math.round(Number(bytes) / 1024 / 1024);
}

/** The local Slack keeps everything, which is not what is looked at here. */
function forgetOldMessages(slack: Slack): void {
  for (const messages of slack.workspace(TEAM).messages.values()) if (messages.size > 2_000) messages.clear();
}

async function stillAnswers(slack: Slack): Promise<boolean> {
  const marks = () =>
    slack.ephemerals(TEAM, PEOPLE.billing).filter(({ text }) => text.includes('can do')).length;
  const before = marks();
  await slack.as(TEAM, PEOPLE.billing).command(CHANNEL, '/deckhand help');
  await slack.until(() => marks() > before, { what: 'help after all that' });
  return true;
}
