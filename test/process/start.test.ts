import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { startFault } from '../../src/cli/start.ts';
import { checkKeys } from '../../src/store/data-keys.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { TRIED } from '../store/databases.ts';
import { bundledFile } from '../support/program.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';

const root = join(import.meta.dirname, '..', '..');
const keyOf = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const OLD = keyOf('old', 1);
const NEW = keyOf('new', 2);

describe.each(TRIED)('on $name', ({ name, fresh }) => {
  let around: Surroundings;
  let slack: Surroundings['slack'];
  let env: Record<string, string>;
  let running: Product | undefined;

  beforeEach(async () => {
    around = await openSurroundings({ speed: 20 });
    slack = around.slack;
    env = { ...around.env, STORE_URL: await fresh(), ENCRYPTION_KEYS: OLD };
    running = undefined;
  });
  afterEach(async () => {
    await running?.stop();
    await around.close();
  });

  async function start(): Promise<void> {
    running = around.createProduct(env);
    await around.start(running);
  }

  /** Runs Deckhand to its end. */
  async function run(args: string[], change: Record<string, string> = {}) {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', ...env, ...change },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await exited;
    return { code, out, err };
  }

  /** The bundle by a path through a link, as releases are often kept. */
  async function linked(): Promise<string> {
    const current = join(await temporaryFolder(), 'current');
    await symlink(dirname(await bundledFile()), current);
    return join(current, 'main.js');
  }

  it('keys are rotated while the bot runs; the old one can be taken away then, and the new one cannot', async () => {
    await start();
    await connectAccount(slack);
    const rotation = await run([await linked(), 'rotate-keys'], { ENCRYPTION_KEYS: `${NEW},${OLD}` });

    expect(rotation).toEqual({
      code: 0,
      out: '1 data key wrapped with new, 0 already were.\n',
      err: '',
    });
    await running?.stop();
    // As a start ends with the old key alone.
    const store = await openStore(env.STORE_URL ?? '');
    const refused = await checkKeys(parseEncryptionKeys(OLD), store).catch((error: unknown) => error);
    await store.close();
    expect(startFault(refused, '')).toEqual({
      exitCode: 78,
      sentence: expect.stringMatching(/^ENCRYPTION_KEYS lacks new,/),
    });
    env = { ...env, ENCRYPTION_KEYS: NEW };
    await start();
    await slack.as(TEAM, PEOPLE.member).command(CHANNEL, '/deckhand whoami');
    await slack.until(() =>
      JSON.stringify(slack.ephemerals(TEAM, PEOPLE.member)).includes('ann@example.com'),
    );
  });

  if (name === 'sqlite')
    it('a second process on the file says in one line what to do', async () => {
      const store = await openStore(env.STORE_URL ?? '');
      const { code, err, out } = await run([await bundledFile()]);
      expect(code).toBe(75);
      expect(err.trim().split('\n')).toEqual([
        expect.stringMatching(/is in use by another Deckhand\. Stop that/),
      ]);
      expect(JSON.parse(out)).toMatchObject({ event: 'start_failed', reason: err.trim() });
      await store.close();
    });
});
