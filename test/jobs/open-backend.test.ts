import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { collect, ONCE, Q, send } from './fixtures.ts';

const Note = z.object({ text: z.string() });

describe.each([
  { name: 'sqlite', fresh: temporarySqlite },
  { name: 'postgres', fresh: emptyDatabase },
])('a STORE_URL of $name', ({ fresh }) => {
  test('alone chooses where documents and jobs are kept, and both outlive the process', async () => {
    const url = await fresh();
    const first = await openBackend(url, { clock: systemClock });
    await first.store.of('T1').collection('notes', Note).put('a', { text: 'kept' });
    await send(first.engine, 1);
    await first.close();

    const second = await openBackend(url, { clock: systemClock });
    const handled = collect();
    second.engine.work(Q, { run: handled.run, options: ONCE });
    await second.engine.start();
    onTestFinished(async () => {
      await second.engine.stop(1_000);
      await second.close();
    });
    await handled.given(1);

    expect(await second.store.of('T1').collection('notes', Note).get('a')).toEqual({ text: 'kept' });
    expect(handled.jobs[0]?.data).toEqual({ n: 1 });
  });
});
