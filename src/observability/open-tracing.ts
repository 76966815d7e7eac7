import {
  type Context,
  context,
  type Span as OtelSpan,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { type Clock, systemClock, withTimeout } from '../core/time/clock.ts';
import type { Logger } from './log.ts';
import type { Span, SpanStart, Tracing } from './tracing.ts';

/** Longest wait at the end of the process for a collector that does not answer. */
const CLOSE_MS = 5_000;

/** Time between two log lines about an outage, in which a batch fails every few seconds. */
const OUTAGE_LOG_MS = 10 * 60_000;

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/**
 * Traces by OpenTelemetry's SDK, which reads its own variables for the collector, the protocol and the sampler. Imported
 * only if traces are on, because it loads a megabyte of code.
 */
export async function openTracing(
  version: string,
  log: Logger,
  clock: Clock = systemClock,
): Promise<Tracing> {
  const logOutage = createOutageLog(log, clock);
  setGlobalErrorHandler((error) => logOutage(describeReason(error)));
  const ownAttributes = resourceFromAttributes({ 'service.name': 'deckhand', 'service.version': version });
  const sdk = new NodeSDK({
    resource: defaultResource().merge(ownAttributes),
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  const tracer = trace.getTracer('deckhand', version);

  return {
    trace({ name, kind, attributes, parent }, work) {
      const from = parent === undefined ? context.active() : readContext(parent);
      const options = { kind: KINDS[kind], attributes: { ...attributes?.() } };
      return tracer.startActiveSpan(name, options, from, async (span) => {
        try {
          return await work(wrapSpan(span));
        } catch (error) {
          failSpan(span, describeType(error));
          throw error;
        } finally {
          span.end();
        }
      });
    },
    get traceparent() {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent;
    },
    async close() {
      const shutdown = sdk.shutdown().then(
        () => true,
        (error: unknown) => logOutage(describeReason(error)) ?? true,
      );
      if ((await withTimeout(clock, CLOSE_MS, shutdown)) === undefined) logOutage('timeout');
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

function readContext(traceparent: string | null): Context {
  return traceparent === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}

function wrapSpan(span: OtelSpan): Span {
  return {
    set: (attributes) => {
      span.setAttributes({ ...attributes });
    },
    fail: (type) => failSpan(span, type),
  };
}

/** Marks a span as failed by the error's kind or class alone: its message may hold text that people typed. */
function failSpan(span: OtelSpan, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
}

function describeType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}

/** Logs lost spans by the failure's kind alone, because an answer may repeat a header. */
function createOutageLog(log: Logger, clock: Clock): (reason: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (clock.now() - loggedAt < OUTAGE_LOG_MS) return;
    loggedAt = clock.now();
    log.warn({ event: 'traces_not_sent', reason }, 'Traces not sent');
  };
}

function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name;
}
