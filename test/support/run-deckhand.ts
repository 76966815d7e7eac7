import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { bundledFile } from './program.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  /** By default one without a `.env` file. */
  cwd?: string;
  /** A file in place of the bundle. */
  entry?: string;
  uid?: number;
}

/** The least that a start needs. */
export const MIN_ENV = {
  SLACK_SIGNING_SECRET: 'e'.repeat(32),
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_API_URL: 'http://127.0.0.1:9/api/',
  SERVICE_BASE_URL: 'https://{account}.service.test',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  HOST: '127.0.0.1',
  PORT: '0',
} as const;

/** Runs Deckhand where it is expected to end by itself. */
export async function runDeckhand(options: RunOptions): Promise<Ended> {
  const { args = [], env = {}, cwd = join(root, 'test'), entry, uid } = options;
  const child = spawn(process.execPath, [entry ?? (await bundledFile()), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
  });
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, out, err };
}
