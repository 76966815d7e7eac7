import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import type { Shape, UnreadableDocument, Versioned, WorkspaceStore } from '../../src/store/store.ts';
import { DATABASES } from './databases.ts';

const First = z.object({ days: z.number() });
const Third = z.object({ hours: z.number(), zone: z.string() });
const SECOND: Versioned<{ hours: number }> = {
  schema: z.object({ hours: z.number() }),
  upgrades: [({ days }) => ({ hours: Number(days) * 24 })],
};
const THIRD: Versioned<z.infer<typeof Third>> = {
  schema: Third,
  upgrades: [...SECOND.upgrades, (doc) => ({ ...doc, zone: 'UTC' })],
};

describe.each(DATABASES)('documents of several versions, on $name', ({ fresh }) => {
  async function open(): Promise<{ reported: UnreadableDocument[]; as: WorkspaceStore['collection'] }> {
    const reported: UnreadableDocument[] = [];
    const store = await openStore(await fresh(), { onUnreadable: (document) => reported.push(document) });
    onTestFinished(() => store.close());
    return { reported, as: store.of('T1').collection };
  }
  const put = <T>(as: WorkspaceStore['collection'], shape: Shape<T>, id: string, doc: T) =>
    as('waits', shape).put(id, doc);

  test('are brought up to the newest whenever they are read', async () => {
    const { as, reported } = await open();
    await put(as, First, 'a', { days: 1 });
    await put(as, SECOND, 'b', { hours: 5 });
    await put(as, THIRD, 'c', { hours: 7, zone: 'Europe/Lisbon' });
    const waits = as('waits', THIRD);

    expect(await waits.get('a')).toEqual({ hours: 24, zone: 'UTC' });
    expect((await waits.list()).map(({ doc }) => doc)).toEqual([
      { hours: 24, zone: 'UTC' },
      { hours: 5, zone: 'UTC' },
      { hours: 7, zone: 'Europe/Lisbon' },
    ]);
    expect((await waits.latest(1)).map(({ id }) => id)).toEqual(['c']);
    expect(reported).toEqual([]);
  });

  test('are stored as the newest once they change', async () => {
    const { as } = await open();
    await put(as, First, 'a', { days: 2 });

    await as('waits', THIRD).update('a', (doc) => doc && { ...doc, zone: 'Asia/Tokyo' });

    // Brought up once: a second time would make 1152 hours and UTC of it.
    expect(await as('waits', THIRD).get('a')).toEqual({ hours: 48, zone: 'Asia/Tokyo' });
  });

  test('of a newer version are left out one by one, and kept for a release that reads them', async () => {
    const { as, reported } = await open();
    await put(as, First, 'old', { days: 1 });
    await put(as, THIRD, 'new', { hours: 3, zone: 'UTC' });

    expect((await as('waits', SECOND).list()).map(({ id }) => id)).toEqual(['old']);
    await expect(as('waits', SECOND).get('new')).rejects.toThrow('unexpected shape');
    expect(new Set(reported.map(({ id }) => id))).toEqual(new Set(['new']));
    expect(await as('waits', THIRD).get('new')).toEqual({ hours: 3, zone: 'UTC' });
  });
});
