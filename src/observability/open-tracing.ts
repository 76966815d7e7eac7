import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Clock, systemClock, withTimeout } from '../core/clock.ts';
import type { Logger } from './log.ts';
import type { Span, SpanStart, Tracing } from './tracing.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** A collector that does not answer must not delay the end of the process. */
const CLOSE_MS = 5_000;

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/**
 * Traces by OpenTelemetry, sent over OTLP. Imported only where they are on, since it loads a megabyte of code. Nothing in
 * it is global.
 */
export async function openTracing(
  settings: TracingSettings,
  version: string,
  log: Logger,
  clock: Clock = systemClock,
): Promise<Tracing> {
  const logOutage = createOutageLog(log);
  const exporter = await openExporter(settings.protocol, logOutage);
  const named = resourceFromAttributes({ 'service.name': 'deckhand', 'service.version': version });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('deckhand', version);
  const current = new AsyncLocalStorage<Context>();
  const activeContext = (): Context => current.getStore() ?? ROOT_CONTEXT;

  return {
    async run({ name, kind, attributes, parent }, work) {
      const from = parent === undefined ? activeContext() : contextOf(parent);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes?.() } }, from);
      try {
        return await current.run(trace.setSpan(from, span), () => work(wrap(span)));
      } catch (error) {
        fail(span, typeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    get traceparent() {
      const carrier: { traceparent?: string } = {};
      propagator.inject(activeContext(), carrier, defaultTextMapSetter);
      return carrier.traceparent;
    },
    async close() {
      // A refused batch ends the shutdown while others are still on their way.
      const answered = provider
        .shutdown()
        .catch(() => undefined)
        .then(() => exporter.forceFlush())
        .then(() => true);
      if ((await withTimeout(clock, CLOSE_MS, answered)) === undefined) logOutage('timeout');
    },
  };
}

const propagator = new W3CTraceContextPropagator();

function contextOf(traceparent: string | null): Context {
  if (traceparent === null) return ROOT_CONTEXT;
  return propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
}

function wrap(span: OtelSpan): Span {
  return {
    set: (attributes) => {
      span.setAttributes({ ...attributes });
    },
    fail: (type) => fail(span, type),
  };
}

/** Only the error's kind or class: its message may hold text that people typed. */
function fail(span: OtelSpan, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}

/** Sends spans over OTLP. It reads address, headers, time-out, compression and certificates from the standard variables itself. */
async function openExporter(
  protocol: TracingSettings['protocol'],
  logOutage: OutageLog,
): Promise<SpanExporter & { forceFlush(): Promise<void> }> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new OTLPTraceExporter();
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        logOutage(result.error && reasonOf(result.error));
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Is given how each export ended: why the collector did not take it, or undefined. */
type OutageLog = (reason: string | undefined) => void;

/** Logs the first failure after a success, by its kind alone: an answer may repeat a header. */
function createOutageLog(log: Logger): OutageLog {
  let isFailing = false;
  return (reason) => {
    if (reason !== undefined && !isFailing)
      log.warn({ event: 'traces_not_sent', reason }, 'the collector took no spans');
    isFailing = reason !== undefined;
  };
}

function reasonOf(error: Error): string {
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name;
}

/** The sampler that `OTEL_TRACES_SAMPLER` names. */
function samplerOf({ sampler, ratio }: Pick<TracingSettings, 'sampler' | 'ratio'>): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
