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
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { systemClock } from '../core/clock.ts';
import { withTimeout } from '../core/timeout.ts';
import { openExporter } from './exporter.ts';
import type { Logger } from './log.ts';
import { samplerOf } from './sampler.ts';
import type { Span, SpanStart, Tracing } from './tracing.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** A collector that does not answer must not keep the process from its end. */
const CLOSE_MS = 2_000;

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/**
 * Traces by OpenTelemetry, sent over OTLP. Imported only where they are switched on, since it loads a megabyte of code.
 * Nothing of it is global, so that what else runs in the process stays as it is.
 */
export async function openTracing(settings: TracingSettings, version: string, log: Logger): Promise<Tracing> {
  const exporter = await openExporter(settings.protocol, log);
  const named = resourceFromAttributes({ 'service.name': 'deckhand', 'service.version': version });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('deckhand', version);
  const underWay = new AsyncLocalStorage<Context>();
  const here = (): Context => underWay.getStore() ?? ROOT_CONTEXT;

  return {
    async run({ name, kind, attributes, parent }, work) {
      const from = parent === undefined ? here() : contextOf(parent);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes?.() } }, from);
      try {
        return await underWay.run(trace.setSpan(from, span), () => work(wrap(span)));
      } catch (error) {
        fail(span, typeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    get traceparent() {
      const carrier: { traceparent?: string } = {};
      propagator.inject(here(), carrier, defaultTextMapSetter);
      return carrier.traceparent;
    },
    async close() {
      // What the collector did not take is in the log already.
      const told = provider.shutdown().catch(() => undefined);
      await withTimeout(systemClock, CLOSE_MS, told);
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

/** Its kind or class alone: what an error says may hold what people typed. */
function fail(span: OtelSpan, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}
