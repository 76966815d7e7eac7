import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { collect, ONCE, Q } from '../jobs/fixtures.ts';
import { DATABASES } from '../store/databases.ts';
import { startCollector, traceTo } from './collector.ts';

const NEAR = { ...Q, queue: 'near' };
const FAR = { ...Q, queue: 'far' };

describe.each(DATABASES)('a job stored in $name', ({ fresh }) => {
  it('belongs to the span that sent it, in another process and at every attempt; one sent ahead begins a trace', async () => {
    const url = await fresh();
    const collector = await startCollector();
    const tracing = await traceTo(collector);
    const sender = await openBackend(url, { clock: systemClock, tracing });
    await tracing.trace({ name: 'sender', kind: 'internal', parent: null }, async () => {
      await sender.engine.send('T1', NEAR, { n: 1 });
      await sender.engine.send('T1', FAR, { n: 1 }, { at: Date.now() + 100 });
    });
    await sender.close();

    const worker = await openBackend(url, { clock: systemClock, tracing });
    const near = collect(async ({ attempt }) => {
      if (attempt === 1) throw new Error('not what is sent: sesame');
    });
    const far = collect();
    worker.engine.work(NEAR, { handle: near.handle, options: { ...ONCE, backoffMs: 10 } });
    worker.engine.work(FAR, { handle: far.handle, options: ONCE });
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
      [1, 'retried'],
      [2, 'done'],
    ]);
    expect(near.jobs.map((job) => Object.keys(job.data))).toEqual([['n'], ['n']]);
    const apart = spans.find(({ name }) => name === 'process far');
    expect(apart).toBeDefined();
    expect(apart?.traceId).not.toBe(sent?.traceId);
    expect(collector.requests.map(({ body }) => body.toString()).join()).not.toContain('sesame');
  });
});
