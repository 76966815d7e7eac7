import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { byLength } from '../support/length.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import { addTestAccount, connectAccount, environment, furnish, PEOPLE, TEAM } from '../support/test-world.ts';

const MANIFEST = join(import.meta.dirname, '..', '..', 'manifest.yml');
const RUNS = byLength(6, 20);
const SERVERS = 6;
/** Runs go on in several channels, since only those of one channel wait for each other. */
const CHANNELS = ['C0WEST', 'C0SHOPS', 'C0NORTH', 'C0SOUTH', 'C0EAST'];
const LONG_MS = 36_000_000;
/** Progress, and the server that fails. */
const REPLIES = 2;

describe('a process that is killed', () => {
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  let folder: string;
  let logs: string[] = [];

  // Starts are dear: all tests have one Deckhand, and each channels and projects of its own.
  beforeAll(async () => {
    folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-'));
    service = await startSimulatedService({ speed: 20 });
    slack = await startSlack({ app: appFromManifestFile(MANIFEST) });
    const { botToken } = furnish(slack);
    for (const id of [...CHANNELS, 'C0LATE'])
      slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
    const servers = Array.from({ length: SERVERS }, (_, at) => ({ name: `web-${at + 1}` }));
    addTestAccount(
      service,
      Array.from({ length: RUNS + 2 }, (_, at) => ({ name: `Shop ${at}`, permalink: `shop-${at}`, servers })),
    );
    const env = environment(slack, service, botToken, folder);
    product = createProduct({ ...env, POLL_INTERVAL_MS: '200' }, (line) => logs.push(line));
    await restart();
    await connectAccount(slack);
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    logs = [];
  });

  async function restart(): Promise<void> {
    const origin = `http://127.0.0.1:${await product.start()}`;
    slack.deliverTo(`${origin}/slack/events`);
  }

  const rootsOf = (channels: readonly string[]) =>
    channels.flatMap((channel) =>
      slack.messages(TEAM, channel).map(({ ts, text }) => ({ channel, ts, text })),
    );
  const repliesTo = ({ channel, ts }: { channel: string; ts: string }) =>
    slack.thread(TEAM, channel, ts).map(({ text }) => text);

  function failSlowly(project: string): void {
    service.world.setRunOutcome({ account: 'acme', project, durationMs: LONG_MS });
    const server = { account: 'acme', project, server: 'web-1' };
    service.world.setOutcome({ ...server, status: 'error', message: 'refused' });
  }

  /** Its run ends after all others; resolves with its id, once it is followed. */
  async function startWorkflow(project: string): Promise<string> {
    service.world.setRunOutcome({ account: 'acme', project, durationMs: 2 * LONG_MS });
    const polled = service.requests.next(({ path }) => path.includes(`/${project}/test_access/`));
    const { id } = slack.runFunction(TEAM, 'test_access', { project });
    await polled;
    return id;
  }

  it('carries out what was acknowledged before the kill', async () => {
    const roots = () => rootsOf(['C0LATE']);
    const fault = service.faults.add({ path: '/acme/projects', delayMs: 600_000, times: 1 });
    const begun = service.requests.nextArrival(({ path }) => path.startsWith('/projects'));
    const { outcome } = await slack.as(TEAM, PEOPLE.member).command('C0LATE', `/deckhand test shop-${RUNS}`);
    expect(outcome).toBe('ok');
    // Killed any earlier it would not have begun, and then its second life is in no doubt.
    await begun;
    await product.kill();
    fault.remove();
    expect(roots()).toHaveLength(0);
    await restart();
    await slack.until(() => roots()[0]?.text.includes('all 6 servers are reachable'));
    expect(roots()).toHaveLength(1);
    expect(logs.filter((line) => line.includes('"event":"possible_duplicate"'))).toHaveLength(1);
  });

  it('picks up every followed run where it was: nothing is missing, what is doubled is counted, and a workflow’s step ends', async () => {
    const roots = () => rootsOf(CHANNELS);
    const posted = () => roots().reduce((sum, root) => sum + repliesTo(root).length, 0);
    for (let at = 0; at < RUNS; at += 1) failSlowly(`shop-${at}`);
    const workflow = await startWorkflow(`shop-${RUNS + 1}`);
    const step = () => slack.functionRun(TEAM, workflow);
    const ben = slack.as(TEAM, PEOPLE.member);
    for (let at = 0; at < RUNS; at += 1)
      await ben.command(CHANNELS[at % CHANNELS.length] ?? '', `/deckhand test shop-${at}`);
    const started = () => roots().filter((root) => repliesTo(root).length === 1).length;
    await slack.until(() => started() === RUNS, { what: 'all runs to be followed' });
    service.clock.advance(LONG_MS);
    await slack.until(() => posted() > RUNS, { what: 'news in the threads' });
    await product.kill();
    expect(posted(), 'killed in the middle').toBeLessThan(RUNS * REPLIES);
    expect(step()?.state).toBe('running');
    await restart();
    const ended = () =>
      roots().length === RUNS && roots().every(({ text }) => text.includes('1 of 6 servers is unreachable'));
    await slack.until(ended, { what: 'all runs to end' });
    const isWhole = (told: readonly string[]) =>
      told.some((text) => text.includes('The test took')) && told.some((text) => text.includes('refused'));
    await slack.until(() => roots().every((root) => isWhole(repliesTo(root))), { what: 'every reply' });
    service.clock.advance(LONG_MS);
    await slack.until(() => step()?.state === 'succeeded', { what: 'the step to end' });
    expect(step()?.outputs).toMatchObject({ status: 'completed', reachable: SERVERS });
    await product.stop();
    // Only a post whose answer the kill lost may stand twice, where Slack does not refuse the repeat.
    const counted = logs.filter((line) => line.includes('"event":"possible_duplicate"')).length;
    expect(posted() - RUNS * REPLIES, 'doubled').toBeLessThanOrEqual(counted);
  });
});
