import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import type { Collection } from '../../src/store/store.ts';
import { rememberDocuments } from '../../src/workspace/request-memory.ts';
import { temporarySqlite } from '../support/temporary.ts';

type Note = z.infer<typeof Note>;
const Note = z.object({ text: z.string() });

async function openNotes(): Promise<{ today: Collection<Note>; request: Collection<Note> }> {
  const store = await openStore(await temporarySqlite());
  onTestFinished(() => store.close());
  const documents = store.of('T1');
  await documents.collection('notes', Note).put('a', { text: 'one' });
  return {
    today: documents.collection('notes', Note),
    request: rememberDocuments(documents).collection('notes', Note),
  };
}

async function read(notes: Collection<Note>): Promise<string[]> {
  const [one, all] = await Promise.all([notes.get('a'), notes.list()]);
  return [one?.text ?? 'none', all.map(({ doc }) => doc.text).join(' ')];
}

test('a request goes on with what it has read', async () => {
  const { today, request } = await openNotes();
  await read(request);
  await today.put('a', { text: 'two' });
  expect(await read(request)).toEqual(['one', 'one']);
});

test.each<[string, (notes: Collection<Note>) => Promise<unknown>, string[]]>([
  ['puts', (notes) => notes.put('a', { text: 'two' }), ['two', 'two']],
  ['creates', (notes) => notes.create('b', { text: 'two' }), ['one', 'one two']],
  ['updates', (notes) => notes.update('a', () => ({ text: 'two' })), ['two', 'two']],
  ['deletes', (notes) => notes.delete('a'), ['none', '']],
  ['trims', (notes) => notes.trim(0), ['none', '']],
])('a request sees at once what it %s', async (_, change, seen) => {
  const { request } = await openNotes();
  expect(await read(request)).toEqual(['one', 'one']);
  await change(request);
  expect(await read(request)).toEqual(seen);
});

test('a request that could not read something may ask for it again', async () => {
  const { today, request } = await openNotes();
  await today.put('a', { text: 5 as never });
  await expect(request.get('a')).rejects.toThrow('unexpected shape');
  await today.put('a', { text: 'two' });
  expect(await request.get('a')).toEqual({ text: 'two' });
});

test('a request lists apart what begins differently', async () => {
  const { request } = await openNotes();
  await request.put('b', { text: 'two' });
  expect(await request.list()).toHaveLength(2);
  expect(await request.list('b')).toEqual([{ id: 'b', doc: { text: 'two' } }]);
});
