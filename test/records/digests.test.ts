import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createDigests } from '../../src/records/digests.ts';
import { Occurrence } from '../../src/scheduler/schedules/timed.ts';
import { openStore } from '../../src/store/open-store.ts';
import { temporarySqlite } from '../support/temporary.ts';

const AT = Date.UTC(2026, 0, 5, 9);
const STORED = {
  id: 'd7k2',
  requestId: 'R1',
  channel: 'C1',
  cadence: { kind: 'daily', time: '09:00' },
  zone: 'UTC',
  range: 'today',
  skipQuiet: false,
  setUpBy: 'U1',
  setUpAt: 1,
  state: { kind: 'active' },
  last: { slotAt: AT, at: AT + 5, outcome: 'posted' },
};

test('a digest and its job of release 0.2.0 keep the time of their occurrence', async () => {
  const store = await openStore(await temporarySqlite());
  onTestFinished(() => store.close());
  await store.of('T1').collection('digests', z.unknown()).put('d7k2', STORED);

  const digest = await createDigests(store.of('T1')).get('d7k2');

  expect(digest?.last).toEqual({ scheduledAt: AT, at: AT + 5, outcome: 'posted' });
  expect(Occurrence.parse({ digest: 'd7k2', slotAt: AT })).toEqual({ id: 'd7k2', scheduledAt: AT });
});
