import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from './log.ts';
import type { TracingSettings } from './tracing-settings.ts';

/**
 * Sends spans over OTLP. Address, headers, time-out, compression and certificates it reads from the standard variables
 * itself. The first failure after a success is a line in the log, by its kind alone: an answer may repeat a header.
 */
export async function openExporter(
  protocol: TracingSettings['protocol'],
  log: Logger,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter: SpanExporter = new OTLPTraceExporter();
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error !== undefined && !isFailing)
          log.warn({ event: 'traces_not_sent', reason: reasonOf(error) }, 'the collector took no spans');
        isFailing = error !== undefined;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function reasonOf(error: Error): string {
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name;
}
