import { expect, it, vi } from 'vitest';
import { createManualClock } from '../support/manual-clock.ts';
import { startCollector, traceTo } from './collector.ts';

it('says that the last spans were lost where the collector does not answer', async () => {
  const lines: string[] = [];
  const clock = createManualClock('2026-03-02T09:00:00Z');
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const collector = await startCollector(200, () => {
    ask();
    return new Promise(() => undefined);
  });
  const tracing = await traceTo(collector, (line) => lines.push(line), clock);
  await tracing.run({ name: 'work', kind: 'internal' }, async () => undefined);

  const closed = tracing.close();
  await asked;
  await clock.advance(5_000);
  await closed;
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', event: 'traces_not_sent', reason: 'timeout' },
  ]);
});

it('leaves it to the variables of OpenTelemetry which traces are kept', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off');
  const collector = await startCollector();
  const tracing = await traceTo(collector);
  await tracing.run({ name: 'work', kind: 'internal' }, async () => undefined);
  await tracing.close();
  expect(collector.requests).toEqual([]);
});
