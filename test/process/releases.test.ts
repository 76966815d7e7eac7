import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startFault } from '../../src/cli/start.ts';
import { readVersion } from '../../src/config.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { openStore, takeOver } from '../../src/store/open-store.ts';
import { DATABASES } from '../store/databases.ts';
import { temporarySqlite } from '../support/temporary.ts';

async function writtenBy(release: string, url: string): Promise<string> {
  const store = await openStore(url);
  await takeOver(store, release);
  await store.close();
  return url;
}

it.each(DATABASES)(
  'a store on $name that a newer release wrote is refused at start, naming both',
  async ({ fresh }) => {
    const url = await writtenBy('9.10.0', await fresh());

    const opening = openBackend(url, { clock: systemClock, release: readVersion() });
    const fault = startFault(await opening.catch((error: unknown) => error), url);

    expect(fault?.sentence).toMatch(
      /^The store was written by Deckhand 9\.10\.0, and this is \d+\.\d+\.\d+\. [^\n]+$/,
    );
    expect(fault?.sentence).toContain(readVersion());
    expect(fault?.exitCode).toBe(78);
  },
);

it('what the newer release left is not touched by the refusal', async () => {
  const url = await writtenBy('9.0.0', await temporarySqlite());
  const path = url.slice('sqlite://'.length);
  const before = readFileSync(path);
  const opening = openBackend(url, { clock: systemClock, release: readVersion() });
  await expect(opening).rejects.toThrow('written by Deckhand 9.0.0');
  expect(readFileSync(path).equals(before)).toBe(true);
});

it.each([
  [readVersion(), readVersion(), 'itself'],
  ['0.2.9', '0.2.10', 'the one before'],
  ['0.9.0', '1.0.0', 'the one before a major one'],
])('a store of %s is taken over by %s: %s', async (wrote, ours) => {
  const url = await writtenBy(wrote, await temporarySqlite());
  await writtenBy(ours, url);
  await expect(writtenBy(wrote === ours ? '0.0.1' : wrote, url)).rejects.toThrow(
    `written by Deckhand ${ours}`,
  );
});
