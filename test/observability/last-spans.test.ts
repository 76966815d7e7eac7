import { expect, it } from 'vitest';
import type { Tracing } from '../../src/observability/tracing.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startCollector, traceTo } from './collector.ts';

/** As many as are sent at once, before the end of the process. */
const BATCH = 512;

async function runSpans(tracing: Tracing, count: number): Promise<void> {
  for (let done = 0; done < count; done++)
    await tracing.run({ name: 'work', kind: 'internal' }, async () => undefined);
}

it('waits at its end for spans that are on their way, also where the last ones are refused', async () => {
  const answered: number[] = [];
  const { promise: refusedLast, resolve: refuseLast } = Promise.withResolvers<void>();
  const collector = await startCollector(401, async (count) => {
    if (count === 2) refuseLast();
    // Until another request has come and gone, by when the refusal of the last spans was read.
    if (count === 1) await refusedLast.then(() => fetch(collector.origin));
    answered.push(count);
  });
  const tracing = await traceTo(collector);
  await runSpans(tracing, BATCH + 1);

  await tracing.close();
  expect(answered).toEqual([2, 3, 1]);
});

it('says that the last spans were lost where the collector does not answer', async () => {
  const lines: string[] = [];
  const clock = createManualClock('2026-03-02T09:00:00Z');
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const collector = await startCollector(200, () => {
    ask();
    return new Promise(() => undefined);
  });
  const tracing = await traceTo(collector, (line) => lines.push(line), clock);
  await runSpans(tracing, 1);

  const closed = tracing.close();
  await asked;
  await clock.advance(5_000);
  await closed;
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', event: 'traces_not_sent', reason: 'timeout' },
  ]);
});
