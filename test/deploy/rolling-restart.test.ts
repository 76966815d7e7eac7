import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type DeckhandProcess, startDeckhand } from '../support/deckhand-process.ts';
import { readText } from '../support/deployment-files.ts';
import { freePort } from '../support/free-port.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { sendSigned } from '../support/signed.ts';
import { openSurroundings } from '../support/surroundings.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

/** Both replicas are ended and started again so often. */
const ROUNDS = byLength(0, 5);
/** Between two requests, in milliseconds. */
const PACE_MS = 40;
const ONE = '127.0.0.1:3000';

interface Proxy {
  program: string;
  /** Writes the shipped file, with the replicas in place of the one, without TLS. */
  configure(folder: string, port: number, replicas: readonly string[]): Promise<string[]>;
}

const nginx: Proxy = {
  program: '/usr/sbin/nginx',
  async configure(folder, port, replicas) {
    const shipped = readText('deploy/proxy/nginx.conf')
      .replace(/^.*server 127\.0\.0\.1:3000(.*);$/m, replicas.map((one) => `server ${one}$1;`).join('\n'))
      .replace(/^server \{\n {2}listen 80;[^}]*\}$/m, '')
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replaceAll(/^.*(?:ssl_|\[::\]).*$/gm, '');
    const main = `daemon off; pid ${folder}/pid; error_log stderr; events {}
http { client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; ${shipped} }`;
    const file = join(folder, 'nginx.conf');
    await writeFile(file, main);
    return ['-p', folder, '-c', file];
  },
};

const caddy: Proxy = {
  program: '/usr/bin/caddy',
  async configure(folder, port, replicas) {
    const shipped = readText('deploy/proxy/Caddyfile')
      .replace('deckhand.example.com {', `http://127.0.0.1:${port} {`)
      .replace(ONE, replicas.join(' '));
    const file = join(folder, 'Caddyfile');
    await writeFile(file, `{\nadmin off\nauto_https off\n}\n${shipped}`);
    return ['run', '--config', file, '--adapter', 'caddyfile'];
  },
};

/** Starts the proxy, which leads to all replicas. */
async function startProxy({ program, configure }: Proxy, replicas: readonly string[]): Promise<string> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const args = await configure(folder, port, replicas);
  const child: ChildProcess = spawn(program, args, {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  const origin = `http://127.0.0.1:${port}`;
  await expect.poll(() => statusOf(`${origin}/`)).toBe(200);
  return origin;
}

async function statusOf(url: string): Promise<number> {
  try {
    const { statusCode, body } = await request(url);
    await body.dump();
    return statusCode;
  } catch {
    return 0;
  }
}

describe.runIf(ROUNDS > 0)('a rolling restart of two replicas', () => {
  it.for([
    ['nginx', nginx],
    ['Caddy', caddy],
  ] as const)('behind %s loses no request of Slack', async ([_, proxy], { skip }) => {
    if (!existsSync(proxy.program)) return skip(`${proxy.program} is not installed here`);
    const { slack, close, ...around } = await openSurroundings({});
    onTestFinished(close);
    const env = { ...around.env, STORE_URL: await freshDatabase() };
    const ports = [await freePort(), await freePort()];
    const begin = async (at: number): Promise<DeckhandProcess> => {
      const started = await startDeckhand({ ...env, PORT: String(ports[at]), LOG_LEVEL: 'info' });
      await expect.poll(() => statusOf(`${started.origin}/readyz`)).toBe(200);
      return started;
    };
    const replicas = [await begin(0), await begin(1)];
    const origin = await startProxy(
      proxy,
      ports.map((port) => `127.0.0.1:${port}`),
    );

    const statuses: number[] = [];
    const slowest = { ms: 0 };
    let isOver = false;
    /** Half of them change something; Slack repeats neither. */
    async function command(at: number): Promise<void> {
      const words = { text: at % 2 === 0 ? 'help' : 'use none', trigger_id: `rolling-${at}` };
      const who = { team_id: TEAM, user_id: PEOPLE.admin, channel_id: CHANNEL };
      const form = new URLSearchParams({ command: '/deckhand', ...who, ...words });
      const begun = performance.now();
      const answer = await sendSigned({ slack, origin }, form.toString()).catch(() => ({ status: 0 }));
      slowest.ms = Math.max(slowest.ms, performance.now() - begun);
      statuses.push(answer.status);
    }
    async function traffic(): Promise<void> {
      const sent: Array<Promise<void>> = [];
      for (let at = 0; !isOver; at += 1) {
        sent.push(command(at));
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      }
      await Promise.all(sent);
    }
    const going = traffic();
    for (let round = 0; round < ROUNDS; round += 1)
      for (const at of [0, 1]) {
        replicas[at]?.signal('SIGTERM');
        expect(await replicas[at]?.ended).toBe(0);
        replicas[at] = await begin(at);
      }
    isOver = true;
    await going;

    const lost = statuses.filter((status) => status !== 200);
    expect(lost, `of ${statuses.length}`).toEqual([]);
    expect(statuses.length).toBeGreaterThan(300);
    expect(slowest.ms).toBeLessThan(3_000);
  });
});
