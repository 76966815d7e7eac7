import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../src/core/time/clock.ts';
import { checkKeys, openWrappedKeys, rotateKeys } from '../../src/store/data-keys.ts';
import { type EncryptionKeys, parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createSealer, type Field, type WorkspaceSealer } from '../../src/store/sealer.ts';
import type { Store } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { DATABASES } from './databases.ts';

const FIELD: Field = { record: 'accounts/acme', field: 'api_key' };
const OLD = `old:${randomBytes(32).toString('base64')}`;
const NEW = `new:${randomBytes(32).toString('base64')}`;

/** Of a workspace in a process of its own. */
function sealerOf(keys: EncryptionKeys, store: Store, clock?: Clock): WorkspaceSealer {
  return createSealer(keys, store, clock).of('T1');
}

function keysOf(...entries: string[]): EncryptionKeys {
  return parseEncryptionKeys(entries.join(','));
}

async function open(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

describe.each(DATABASES)('sealing on $name', ({ fresh }) => {
  test('refuses to start without a key in use or with another under its id, and names the id alone', async () => {
    const store = await open(await fresh());
    const other = `old:${randomBytes(32).toString('base64')}`;
    await checkKeys(keysOf(OLD), store);

    for (const keys of [keysOf(other), keysOf(NEW, other)]) {
      await sealerOf(keysOf(OLD), store).seal(FIELD, 'secret');
      const refused = await checkKeys(keys, store).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'seal_error' });
      expect(inspect(refused)).toContain('under the id old');
      expect(inspect(refused)).not.toContain(other.slice(4));
    }
    await checkKeys(keysOf(NEW, OLD), store);
    await expect(checkKeys(keysOf(NEW), store)).rejects.toThrow('ENCRYPTION_KEYS lacks old,');
    await expect(rotateKeys(keysOf(NEW), store)).rejects.toThrow('ENCRYPTION_KEYS lacks old,');
    await expect(sealerOf(keysOf(other), store).seal(FIELD, 'x')).rejects.toThrow('under the id old');
  });

  test('opens nothing with the data key of another workspace, moved to where its own was', async () => {
    const store = await open(await fresh());
    const [one, other] = ['T1', 'T2'].map((workspace) => createSealer(keysOf(OLD), store).of(workspace));
    await other?.seal(FIELD, 'of another');
    await one?.seal(FIELD, 'secret');
    const keys = openWrappedKeys(store);
    const moved = await keys.get('T2');
    await keys.update('T1', () => moved);
    // Whoever can change rows, but has no key, could otherwise choose what this workspace seals with.
    const sealed = createSealer(keysOf(OLD), store).of('T1').seal(FIELD, 'new secret');
    await expect(sealed).rejects.toThrow('another key under the id old');
  });

  test.each([
    ['workspace', 'T2', FIELD],
    ['record', 'T1', { ...FIELD, record: 'accounts/acme2' }],
    ['field', 'T1', { ...FIELD, field: 'password' }],
    ['record and field, shifted', 'T1', { ...FIELD, record: 'accounts/acmeapi_key', field: '' }],
  ])('does not open in another %s', async (_, workspace, elsewhere) => {
    const sealer = createSealer(keysOf(OLD), await open(await fresh()));
    const sealed = await sealer.of('T1').seal(FIELD, 'secret');
    await sealer.of('T2').seal(FIELD, 'other');

    await expect(sealer.of(workspace).open(elsewhere, sealed)).rejects.toThrow(
      expect.objectContaining({ code: 'seal_error' }),
    );
  });

  test('does not open once a single character was changed', async () => {
    const sealer = sealerOf(keysOf(OLD), await open(await fresh()));
    const sealed = await sealer.seal(FIELD, 'secret');

    for (let at = 0; at < sealed.length; at += 1) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
      // The last character carries spare bits, so another one may spell the same bytes.
      const opened = await sealer.open(FIELD, changed).catch(() => 'refused');
      expect([at, opened]).toEqual([
        at,
        at === sealed.length - 1 && opened === 'secret' ? 'secret' : 'refused',
      ]);
    }
    await expect(sealer.open(FIELD, 'plain text')).rejects.toThrow('no sealed value');
  });

  test('after an erase nothing sealed before opens, also where the key was in memory', async () => {
    const clock = createManualClock();
    const store = await open(await fresh());
    const here = sealerOf(keysOf(OLD), store, clock);
    const elsewhere = sealerOf(keysOf(OLD), store, clock);
    const before = await here.seal(FIELD, 'before');
    await elsewhere.open(FIELD, before);

    await store.erase('T1');
    const again = await elsewhere.seal(FIELD, 'after');

    await clock.advance(60_000);
    await expect(here.open(FIELD, before)).rejects.toThrow('gone');
    await expect(elsewhere.open(FIELD, before)).rejects.toThrow('gone');
    expect(await here.open(FIELD, again)).toBe('after');
  });

  test('two replicas that seal first at once agree on one data key', async () => {
    const store = await open(await fresh());
    const sealers = Array.from({ length: 5 }, () => sealerOf(keysOf(OLD), store));

    const sealed = await Promise.all(sealers.map((sealer, n) => sealer.seal(FIELD, String(n))));

    const reader = sealerOf(keysOf(OLD), store);
    const opened = await Promise.all(sealed.map((text) => reader.open(FIELD, text)));
    expect(opened.join('')).toBe('01234');
  });

  test('keys rotate while the bot runs, and the old one can then be taken away', async () => {
    const store = await open(await fresh());
    const running = createSealer(keysOf(OLD), store);
    const workspaces = ['T1', 'T2', 'T3'];
    const sealed = await Promise.all(workspaces.map((id) => running.of(id).seal(FIELD, `of ${id}`)));

    const restarted = sealerOf(keysOf(NEW, OLD), store);
    await checkKeys(keysOf(NEW, OLD), store);
    const [rotation, duringRotation] = await Promise.all([
      rotateKeys(keysOf(NEW, OLD), store),
      restarted.seal(FIELD, 'meanwhile'),
    ]);

    expect(rotation).toEqual({ rewrapped: 3, current: 0 });
    expect(await rotateKeys(keysOf(NEW, OLD), store)).toEqual({ rewrapped: 0, current: 3 });
    const later = createSealer(keysOf(NEW), store);
    await checkKeys(keysOf(NEW), store);
    expect(await later.of('T1').open(FIELD, duringRotation)).toBe('meanwhile');
    for (const [n, id] of workspaces.entries())
      expect(await later.of(id).open(FIELD, sealed[n] ?? '')).toBe(`of ${id}`);
    // The id of the old key is free again, and the new key is held to its own.
    await checkKeys(keysOf(NEW, `old:${randomBytes(32).toString('base64')}`), store);
    const wrong = keysOf(`new:${randomBytes(32).toString('base64')}`);
    await expect(checkKeys(wrong, store)).rejects.toThrow('under the id new');
    await expect(rotateKeys(wrong, store)).rejects.toThrow('new');
  });
});

describe('ENCRYPTION_KEYS', () => {
  const key = randomBytes(32).toString('base64');

  test('the first seals, url-safe base64 and spaces are fine', () => {
    const urlSafe = Buffer.from(key, 'base64').toString('base64url');
    expect(keysOf(`a:${key}`, ` b:${urlSafe} `).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test.each([
    ['is not set', ' '],
    ['entry 1 has no id', key],
    ['entry 1 has an id of other than', `a b:${key}`],
    ['entry 1 (a) is not base64', 'a:not base64!'],
    ['entry 1 (a) has 16 bytes instead of 32', `a:${randomBytes(16).toString('base64')}`],
    ['has the id a more than once', `a:${key},a:${key}`],
    ['entry 2 is empty; entry 3 (b) has 0 bytes instead of 32', `a:${key},,b:x`],
  ])('a faulty text is refused without showing it: %s', (fault, text) => {
    expect(() => parseEncryptionKeys(text)).toThrow(fault);
    expect(inspect(thrownBy(() => parseEncryptionKeys(text)))).not.toContain(key.slice(0, 20));
  });

  test('a parsed key does not print itself', () => {
    const keys = keysOf(`a:${key}`);
    expect(`${inspect(keys, { depth: 9 })}${JSON.stringify(keys)}`).not.toContain(key.slice(0, 20));
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
