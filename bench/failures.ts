import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM, type TestWorld } from '../test/support/test-world.ts';
import { quantile } from './support/rounds.ts';
import { ms, printTable } from './support/tables.ts';

const PUSHED = Number(process.env.PUSHED ?? 20);
const POLLED = Number(process.env.POLLED ?? 5);
const PROJECT = { account: ACCOUNT, project: 'storefront', user: 'Kim' };
const LONGEST_MS = 120_000;

/**
 * Time from a failed deployment at the service to its reason in the failure's message, calls of the service for it, and CPU. Deckhand and both
 * fakes share the process, so the CPU is an upper bound.
 */
export async function failures(): Promise<void> {
  const rows = [await measure('pushed', PUSHED), await measure('polled every minute', POLLED)];
  printTable(['', 'failures', 'p50', 'p95', 'calls a failure', 'CPU a failure'], rows);
}

async function measure(name: string, amount: number): Promise<string[]> {
  const port = await freePort();
  const env = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, NOTICE_INTERVAL_MS: '60000' };
  const world = await openTestWorld({ connected: true, speed: 1, env });
  try {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand watch storefront failures');
    await world.slack.until(() => messages(world).includes('now hears'), { what: 'the watch' });
    if (name === 'pushed') await hearWithinSeconds(world);
    const times: number[] = [];
    const spent: number[] = [];
    const before = countCalls(world);
    for (let round = 0; round < amount; round += 1) {
      // A failure comes at any time between two polls.
      await wait(name === 'pushed' ? 2_500 : Math.random() * 60_000);
      const reason = `round ${round} has no quota`;
      const cpu = process.cpuUsage();
      const began = performance.now();
      fail(world, round, reason);
      await world.slack.until(() => messages(world).includes(reason), {
        what: reason,
        timeoutMs: LONGEST_MS,
      });
      times.push(performance.now() - began);
      const { user, system } = process.cpuUsage(cpu);
      spent.push((user + system) / 1_000);
    }
    const calls = (countCalls(world) - before) / amount;
    const figures = [quantile(times, 0.5), quantile(times, 0.95)].map(ms);
    return [name, String(amount), ...figures, calls.toFixed(1), ms(quantile(spent, 0.5))];
  } finally {
    await world.stop();
  }
}

function fail({ service }: TestWorld, round: number, reason: string): void {
  const endRef = `d4fc${1_000 + round}`;
  const failure = { cause: 'build', message: 'Building', detail: `Error: ${reason}` } as const;
  service.world.addDeployment({ ...PROJECT, succeeded: false, endRef, failure });
}

function messages({ slack }: TestWorld): string {
  return JSON.stringify(slack.messages(TEAM, CHANNEL));
}

function countCalls({ service }: TestWorld): number {
  return service.requests.all.filter(({ path }) => path.includes('/deployments')).length;
}

async function hearWithinSeconds(world: TestWorld): Promise<void> {
  const [actionId = ''] = /watch:push[^"]*/.exec(messages(world)) ?? [];
  const ts = world.slack.messages(TEAM, CHANNEL).at(-1)?.ts ?? '';
  const ann = world.as('admin');
  await ann.click({ channel: CHANNEL, ts }, { actionId });
  await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.push');
  await ann.submit('watch.push', {});
  await world.slack.until(() => messages(world).includes('tells of deployments within seconds'), {
    what: 'pushes',
  });
}
