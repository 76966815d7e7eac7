import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startFault } from '../../src/cli/start.ts';
import { readVersion } from '../../src/config.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { openStore, recordFormat, STORE_FORMAT } from '../../src/store/open-store.ts';
import { GLOBAL, type Store } from '../../src/store/store.ts';
import { DATABASES } from '../store/databases.ts';
import { test } from '../support/fixtures.ts';
import { temporarySqlite } from '../support/temporary.ts';

const NEWER = STORE_FORMAT + 1;

/** Leaves a store as a ready process of that release and format does. */
async function writtenBy(release: string, format: number, url: string): Promise<string> {
  const store = await openStore(url);
  await recordFormat(store, release, format);
  await store.close();
  return url;
}

/** Starts this release as a process does, up to its jobs. */
async function start(url: string): Promise<void> {
  const { close } = await openBackend(url, { clock: systemClock, release: readVersion() });
  await close();
}

/** Release 1.0.0 refuses a store that names a newer release here. */
async function readMarkOfFirstRelease(url: string): Promise<string | undefined> {
  const store = await openStore(url, { access: 'read' });
  onTestFinished(() => store.close());
  return readMark(store);
}

async function readMark(store: Store): Promise<string | undefined> {
  const mark = await store
    .of(GLOBAL)
    .collection('store', z.object({ release: z.string() }))
    .get('release');
  return mark?.release;
}

describe.each(DATABASES)('a store on $name', ({ name, fresh }) => {
  it('of a newer format is refused at start, naming both releases', async () => {
    const url = await writtenBy('9.10.0', NEWER, await fresh());

    const fault = startFault(await start(url).catch((error: unknown) => error), url);

    expect(fault?.sentence).toMatch(
      /^The store was written by Deckhand 9\.10\.0, and this is \d+\.\d+\.\d+, which cannot read it\. [^\n]+$/,
    );
    expect(fault?.sentence).toContain(readVersion());
    expect(fault?.exitCode).toBe(78);
  });

  it('of the same format is open to older releases, also beside a newer one', async () => {
    const url = await writtenBy('1.0.0', 1, await fresh());
    await start(await writtenBy('9.9.0', STORE_FORMAT, url));
    await start(await writtenBy(readVersion(), STORE_FORMAT, url));
    expect(await readMarkOfFirstRelease(url)).not.toBe('9.9.0');
  });

  it('is not marked by a process that never gets ready', async () => {
    const url = await fresh();
    await start(url);
    expect(await readMarkOfFirstRelease(url)).toBeUndefined();
  });

  it('of a format that was raised stays raised, whichever replica is ready last', async () => {
    const url = await writtenBy('9.10.0', NEWER, await fresh());
    await writtenBy(readVersion(), STORE_FORMAT, url);
    await expect(start(url), name).rejects.toThrow('written by Deckhand 9.10.0');
    expect(await readMarkOfFirstRelease(url)).toBe('9.10.0');
  });
});

test('a store is marked once Deckhand is ready', async ({ world }) => {
  expect(await readMark(world.app.parts.store)).toBeDefined();
});

it('what the newer release left is not touched by the refusal', async () => {
  const url = await writtenBy('9.0.0', NEWER, await temporarySqlite());
  const path = url.slice('sqlite://'.length);
  const before = readFileSync(path);
  await expect(start(url)).rejects.toThrow('written by Deckhand 9.0.0');
  expect(readFileSync(path).equals(before)).toBe(true);
});
