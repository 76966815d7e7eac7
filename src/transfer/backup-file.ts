import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { expectOlder } from '../store/origin.ts';
import { StoreError } from '../store/store.ts';
import { readVersion } from '../version.ts';
import { Counts, Item, Tally } from './items.ts';

/** The first line. A change of the format that this cannot read gets another number. */
const Header = z.object({ deckhandBackup: z.literal(1), release: z.string(), at: z.number() });
/** The last line, without which the file is a part of one. */
const End = z.object({ end: Counts });

/** Its owner alone may read it: names and addresses are in it, though no secret in plain text. */
const MODE = 0o600;

/** Writes gzipped JSON lines. Until it is complete, the file has another name. */
export async function writeBackup(path: string, items: AsyncIterable<Item>): Promise<Counts> {
  const partial = `${path}.partial`;
  const tally = new Tally();
  try {
    await rm(partial, { force: true });
    const file = createWriteStream(partial, { mode: MODE, flags: 'wx' });
    await pipeline(Readable.from(linesOf(items, tally)), createGzip(), file);
    await settle(partial);
    await rename(partial, path);
  } catch (cause) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw fileFault(path, 'written', cause);
  }
  return tally.counts;
}

async function* linesOf(items: AsyncIterable<Item>, tally: Tally): AsyncGenerator<string> {
  const header: z.infer<typeof Header> = { deckhandBackup: 1, release: readVersion(), at: Date.now() };
  yield `${JSON.stringify(header)}\n`;
  for await (const item of items) {
    tally.add(item);
    yield `${JSON.stringify(item)}\n`;
  }
  yield `${JSON.stringify({ end: tally.counts } satisfies z.infer<typeof End>)}\n`;
}

/** Until it is on the disk. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

/** @throws StoreError where the file is no whole backup, or one of a newer release */
export async function* readBackup(path: string): AsyncGenerator<Item> {
  const tally = new Tally();
  let isBegun = false;
  let end: Counts | undefined;
  for await (const line of readLines(path)) {
    const parsed = parseJson(line);
    if (!isBegun) {
      const header = Header.safeParse(parsed).data;
      if (header === undefined) throw new StoreError(`${path} is no backup of Deckhand.`);
      expectOlder(header.release, readVersion(), path);
      isBegun = true;
      continue;
    }
    end = End.safeParse(parsed).data?.end;
    if (end !== undefined) continue;
    const item = Item.safeParse(parsed).data;
    if (item === undefined) throw damaged(path);
    tally.add(item);
    yield item;
  }
  if (JSON.stringify(end) !== JSON.stringify(tally.counts)) throw damaged(path);
}

async function* readLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  const file = createReadStream(path);
  const unzipped = createGunzip();
  file.on('error', (error) => unzipped.destroy(error));
  try {
    for await (const chunk of file.pipe(unzipped)) {
      const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (cause) {
    throw fileFault(path, 'read', cause);
  }
}

function damaged(path: string): StoreError {
  return new StoreError(`${path} is damaged, or a part of a backup. Take another one.`);
}

function fileFault(path: string, done: 'written' | 'read', cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'Z_DATA_ERROR') return new StoreError(`${path} is no backup of Deckhand.`, { cause });
  if (code.startsWith('Z_')) return damaged(path);
  if (code === 'ENOSPC')
    return new StoreError(`The disk of ${path} is full. Free some space.`, { cause, isTemporary: true });
  if (!/^E[A-Z]+$/.test(code)) return cause;
  return new StoreError(`${path} could not be ${done} (${code}). Check the path, and who may use it.`, {
    cause,
  });
}
