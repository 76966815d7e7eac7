import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { type LocalSlack, startLocalSlack } from '../../sandbox/slack/server.ts';
import { CHANNEL, environment, furnish, PEOPLE, TEAM } from '../support/house.ts';
import { startCollector } from './collector.ts';

const root = join(import.meta.dirname, '..', '..');

describe('Deckhand as a process', () => {
  let slack: LocalSlack;
  let env: Record<string, string>;

  beforeEach(async () => {
    const service = await startSimulatedService();
    slack = await startLocalSlack();
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-traces-'));
    onTestFinished(async () => {
      await Promise.all([slack.stop(), service.stop(), rm(folder, { recursive: true })]);
    });
    const { botToken } = furnish(slack);
    env = environment(slack, service, botToken, folder);
  });

  /** Starts it, has it answer a command, and ends it; resolves with its log and the modules of traces it loaded. */
  async function answerOnce(more: Record<string, string>): Promise<{ log: string[]; loaded: string[] }> {
    const hook = join(import.meta.dirname, 'loaded.ts');
    const child = spawn(process.execPath, ['--import', hook, join(root, 'src', 'main.ts')], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const loaded: string[] = [];
    createInterface(child.stderr).on('line', (line) => loaded.push(line));
    const log: string[] = [];
    const port = await portOf(child, log);
    slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
    await slack.as(TEAM, PEOPLE.member).command(CHANNEL, '/deckhand help');
    await slack.until(() => slack.ephemerals(TEAM, PEOPLE.member).length > 0);
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    return { log, loaded };
  }

  function portOf(child: ChildProcess, log: string[]): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    child.once('exit', (code) => reject(new Error(`Deckhand ended with ${code}`)));
    if (child.stdout === null) throw new TypeError('the child has no output');
    createInterface(child.stdout).on('line', (line) => {
      log.push(line);
      const { event, port } = JSON.parse(line) as { event?: string; port?: number };
      if (event === 'listening' && port !== undefined) resolve(port);
    });
    return promise;
  }

  it('loads nothing of traces unless they are switched on', async () => {
    expect(await answerOnce({})).toMatchObject({ loaded: [] });
  });

  it('sends protobuf to the standard path, under the name it is given, and what is left at its end', async () => {
    const collector = await startCollector();
    const { loaded } = await answerOnce({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_SERVICE_NAME: 'deckhand-of-the-house',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=harbour',
    });
    expect(loaded.some((line) => line.includes('@opentelemetry/sdk-trace'))).toBe(true);
    expect(collector.requests.map(({ path, type }) => ({ path, type }))).toContainEqual({
      path: '/v1/traces',
      type: 'application/x-protobuf',
    });
    const sent = collector.requests.map(({ body }) => body.toString('latin1')).join('');
    for (const words of ['command help', 'slash_command', 'deckhand-of-the-house', 'harbour'])
      expect(sent).toContain(words);
  });

  it('says once that the collector takes nothing, without its headers, and works on', async () => {
    const collector = await startCollector(401);
    const { log } = await answerOnce({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.origin}/elsewhere`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Collector-Secret',
    });
    expect(collector.requests[0]?.path).toBe('/elsewhere');
    const lines = log.filter((line) => line.includes('traces_not_sent'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'warn', reason: '401' }]);
    expect(log.join()).not.toContain('Collector-Secret');
    expect(log.at(-1)).toContain('"event":"stopped"');
  });

  it('tells its port however little it is to log', async () => {
    const { log } = await answerOnce({ LOG_LEVEL: 'error' });
    expect(log.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['listening']);
  });
});
