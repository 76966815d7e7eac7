import { z } from 'zod';

/** How traces are sampled and sent. The exporter itself reads the address, the headers and the service's name. */
export interface TracingSettings {
  protocol: (typeof PROTOCOLS)[number];
  sampler: (typeof SAMPLERS)[number];
  /** The share of traces that a ratio sampler keeps. */
  ratio: number;
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const address = z.url({ protocol: /^https?$/, error: 'is not an http(s) address' }).optional();
const protocol = z.enum(PROTOCOLS, { error: 'must be http/protobuf or http/json' }).optional();

/** OpenTelemetry's own names and values. */
const Standard = z.object({
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, { error: 'is not a sampler of the standard' })
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number({ error: 'must be from 0 to 1' }).min(0).max(1).default(1),
});

/** The settings by OpenTelemetry's standard variables; undefined where traces are off, and then nothing is a fault. */
export function readTracing(given: Record<string, string | undefined>): {
  settings: TracingSettings | undefined;
  faults: string[];
} {
  if (!isWanted(given)) return { settings: undefined, faults: [] };
  const parsed = Standard.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${String(path[0])} ${message}`);
    return { settings: undefined, faults };
  }
  const { data } = parsed;
  const settings: TracingSettings = {
    protocol: data.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? data.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    sampler: data.OTEL_TRACES_SAMPLER,
    ratio: data.OTEL_TRACES_SAMPLER_ARG,
  };
  return { settings, faults: [] };
}

function isWanted(given: Record<string, string | undefined>): boolean {
  if (given.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporter = given.OTEL_TRACES_EXPORTER?.trim();
  if (exporter !== undefined) return exporter !== 'none';
  return (
    given.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined || given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined
  );
}
