import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openBackend } from '../../src/open.ts';
import { collect, ONCE, type TestData } from '../jobs/fixtures.ts';
import { DATABASES } from '../store/databases.ts';
import { startCollector, traceTo } from './collector.ts';

describe.each(DATABASES)('a job stored in $name', ({ fresh }) => {
  it('belongs to the span that sent it, in another process and at every attempt; one apart begins a trace', async () => {
    const url = await fresh();
    const collector = await startCollector();
    const tracing = await traceTo(collector);
    const sender = await openBackend(url, { clock: systemClock, tracing });
    const data: TestData = { workspace: 'T1', n: 1 };
    await tracing.run({ name: 'sender', kind: 'server', parent: null }, async () => {
      await sender.engine.send('near', data);
      await sender.engine.send('far', data, { newTrace: true });
    });
    await sender.close();

    const worker = await openBackend(url, { clock: systemClock, tracing });
    const near = collect(async ({ attempt, save }) => {
      await save({ ...data, n: 2 });
      if (attempt === 1) throw new Error('not what is sent: sesame');
    });
    const far = collect();
    worker.engine.work('near', near.handler, { ...ONCE, backoffMs: 10 });
    worker.engine.work('far', far.handler, ONCE);
    await worker.engine.start();
    onTestFinished(() => worker.close());
    await Promise.all([near.given(2), far.given(1)]);
    await worker.engine.stop(10_000);
    await tracing.close();

    const spans = collector.spans();
    const sent = spans.find(({ name }) => name === 'sender');
    const outcomes = spans
      .filter(({ name, parentSpanId }) => name === 'process near' && parentSpanId === sent?.spanId)
      .map(({ attributes }) => [attributes['deckhand.attempt'], attributes['deckhand.outcome']]);
    expect(outcomes).toEqual([
      [1, 'failed'],
      [2, 'done'],
    ]);
    expect(near.jobs.map((job) => Object.keys(job.data))).toEqual([
      ['workspace', 'n'],
      ['workspace', 'n'],
    ]);
    const apart = spans.find(({ name }) => name === 'process far');
    expect(apart).toBeDefined();
    expect(apart?.traceId).not.toBe(sent?.traceId);
    expect(collector.requests.map(({ body }) => body.toString()).join()).not.toContain('sesame');
  });
});
