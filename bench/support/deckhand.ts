import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type Program, startProgram } from './processes.ts';

export const SECRET = 'bench-signing-secret-of-no-account';
export const TEAM = 'T0BENCH';
export const ACCOUNT = 'acme';
export const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** A folder for one store. */
export async function freshFolder(): Promise<{ folder: string; storeUrl: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-bench-'));
  return {
    folder,
    storeUrl: `sqlite://${join(folder, 'deckhand.sqlite')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The variables of a Deckhand between the world of `bench/peers/world.ts` and a load. */
export function environment(
  world: Program,
  storeUrl: string,
  replyPort = world.port,
): Record<string, string> {
  const origin = `http://127.0.0.1:${world.port}`;
  return {
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_BOT_TOKEN: 'xoxb-bench',
    SLACK_API_URL: `${origin}/slack/`,
    SLACK_RESPONSE_HOSTS: `127.0.0.1:${replyPort}`,
    SERVICE_BASE_URL: `${origin}/service/{account}`,
    STORE_URL: storeUrl,
    ENCRYPTION_KEYS,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
  };
}

/**
 * Deckhand as it is run, with the launcher's room for new objects, but one can ask it for its memory after a collection (`bench/peers/deckhand.ts`).
 * @param root of another checkout, to compare it with this one
 */
export function startDeckhand(env: Record<string, string>, root?: string): Promise<Program> {
  const { NODE_FLAGS: flags = '' } = process.env;
  const nodeFlags = ['--expose-gc', '--max-semi-space-size=16', ...flags.split(' ').filter(Boolean)];
  return startProgram('bench/peers/deckhand.ts', env, nodeFlags, root);
}

/** The checkouts to compare: this one, and that which `BESIDE` names. */
export function checkouts(): Record<string, string | undefined> {
  const { BESIDE } = process.env;
  return { Deckhand: undefined, ...(BESIDE === undefined ? {} : { [BESIDE]: BESIDE }) };
}
