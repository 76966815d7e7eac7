import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { Clock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { openTracing } from '../../src/observability/open-tracing.ts';
import type { Tracing } from '../../src/observability/tracing.ts';

const Value = z
  .looseObject({
    stringValue: z.string().optional(),
    intValue: z.union([z.number(), z.string()]).optional(),
    boolValue: z.boolean().optional(),
  })
  .transform(({ stringValue, intValue, boolValue }) => stringValue ?? intValue ?? boolValue);
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, value])));
const SpanShape = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: Attributes,
  status: z.looseObject({ code: z.number().optional(), message: z.string().optional() }),
});
/** OTLP's JSON of a request that exports traces. */
const Exported = z.object({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(SpanShape) })),
    }),
  ),
});

export type ReceivedSpan = z.output<typeof SpanShape>;

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/**
 * A collector on a port of its own, over real HTTP.
 * @param mayAnswer awaited before each answer, with how many requests have come
 */
export async function startCollector(
  status = 200,
  mayAnswer: (count: number) => Promise<void> = async () => undefined,
) {
  /** What came, as it was sent. */
  const requests: Array<{ path: string; type: string; body: Buffer }> = [];
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      requests.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body });
      await mayAnswer(requests.length);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const exported = () =>
    requests.flatMap(({ body }) => Exported.parse(JSON.parse(body.toString())).resourceSpans);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** All spans, of those requests that came as JSON. */
    spans: () => exported().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resource: () => exported()[0]?.resource.attributes ?? {},
  };
}

/** Tracing that sends to the collector; `close` sends what is left. */
export function traceTo(
  { origin }: Collector,
  write: (line: string) => void = () => undefined,
  clock?: Clock,
): Promise<Tracing> {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', origin);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Collector-Secret');
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  return openTracing('0.0.0-test', createLog('info', write), clock);
}
