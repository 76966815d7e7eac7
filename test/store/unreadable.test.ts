import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import type { UnreadableDocument } from '../../src/store/store.ts';
import { DATABASES } from './databases.ts';

const Digest = z.object({ createdBy: z.string(), zone: z.enum(['UTC']) });
const BAD = { workspace: 'T1', collection: 'digests', id: 'bad' };

describe.each(DATABASES)('a document that cannot be read, on $name', ({ fresh }) => {
  async function open() {
    const reported: UnreadableDocument[] = [];
    const store = await openStore(await fresh(), { onUnreadable: (document) => reported.push(document) });
    onTestFinished(() => store.close());
    const planted = (workspace: string) => store.of(workspace).collection('digests', z.unknown());
    await planted('T1').put('bad', { createdBy: 'U1', zone: 'Mars/Base' });
    await planted('T1').put('good', { createdBy: 'U2', zone: 'UTC' });
    return { store, reported, planted, digests: store.of('T1').collection('digests', Digest) };
  }

  test('is left out of lists, reported, refused by itself, and kept as it is', async () => {
    const { planted, reported, digests } = await open();
    const good = { id: 'good', doc: { createdBy: 'U2', zone: 'UTC' } };
    expect([await digests.list(), await digests.latest(5)]).toEqual([[good], [good]]);
    expect(reported).toEqual([BAD, BAD]);
    for (const work of [
      () => digests.get('bad'),
      () => digests.update('bad', () => ({ createdBy: 'U3', zone: 'UTC' })),
    ])
      await expect(work).rejects.toMatchObject({ code: 'document_unreadable' });
    expect(await digests.create('bad', { createdBy: 'U3', zone: 'UTC' })).toBe(false);
    expect(await planted('T1').get('bad')).toEqual({ createdBy: 'U1', zone: 'Mars/Base' });

    await digests.put('bad', { createdBy: 'U1', zone: 'UTC' });
    expect(await digests.list()).toHaveLength(2);
  });

  test('is named for its workspace, whether it has been asked for or not', async () => {
    const { store, digests } = await open();
    await store.database.keyv.set('T1/digests/odd', { unknown: true } as never);
    await store.of('T2').collection('digests', z.unknown()).put('theirs', 'of another workspace');
    store.of('T1').collection('digests', Digest);

    expect(await store.of('T1').unreadable()).toEqual([BAD, { ...BAD, id: 'odd' }]);

    expect(await store.of('T1').unreadable(['others'])).toEqual([]);

    await digests.delete('odd');
    expect(await store.of('T1').unreadable()).toEqual([BAD]);
  });

  test('is looked for among the newest of a long history alone', async () => {
    const { store, digests } = await open();
    for (let at = 0; at < 500; at += 1) await digests.put(`row ${at}`, { createdBy: 'U2', zone: 'UTC' });
    expect(await store.of('T1').unreadable()).toEqual([]);
  });
});
