import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import type { QuarantinedRecord } from '../../src/store/store.ts';
import { DATABASES } from './databases.ts';

const Digest = z.object({ setUpBy: z.string(), zone: z.enum(['UTC']) });

describe.each(DATABASES)('a record that cannot be read, on $name', ({ fresh }) => {
  test('is left out of lists, reported once with its owner, and kept as it is', async () => {
    const url = await fresh();
    const reported: QuarantinedRecord[] = [];
    const open = async () => {
      const store = await openStore(url, { onQuarantined: (record) => reported.push(record) });
      onTestFinished(() => store.close());
      return store;
    };
    const store = await open();
    const planted = (workspace: string) => store.of(workspace).collection('digests', z.unknown());
    await planted('T1').put('bad', { setUpBy: 'U1', zone: 'Mars/Base' });
    await planted('T1').put('good', { setUpBy: 'U2', zone: 'UTC' });
    await planted('T2').put('good', { setUpBy: 'U2', zone: 'UTC' });
    const digests = (workspace: string) => store.of(workspace).collection('digests', Digest);

    const good = { id: 'good', doc: { setUpBy: 'U2', zone: 'UTC' } };
    expect([await digests('T1').list(), await digests('T1').latest(5), await digests('T2').list()]).toEqual([
      [good],
      [good],
      [good],
    ]);
    for (const work of [
      () => digests('T1').get('bad'),
      () => digests('T1').update('bad', () => ({ setUpBy: 'U3', zone: 'UTC' })),
    ])
      await expect(work).rejects.toMatchObject({ code: 'document_unreadable' });
    expect(await digests('T1').create('bad', { setUpBy: 'U3', zone: 'UTC' })).toBe(false);
    expect(await planted('T1').get('bad')).toEqual({ setUpBy: 'U1', zone: 'Mars/Base' });
    expect(reported).toEqual([
      { kind: 'document', workspace: 'T1', collection: 'digests', id: 'bad', owner: 'U1' },
    ]);

    await digests('T1').put('bad', { setUpBy: 'U1', zone: 'UTC' });
    expect(await digests('T1').list()).toHaveLength(2);
  });
});
