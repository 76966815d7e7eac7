import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config.ts';

const good = {
  SLACK_SIGNING_SECRET: 'secret',
  SLACK_BOT_TOKEN: 'xoxb-1',
  SERVICE_BASE_URL: 'https://{account}.example.com',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const ON = { protocol: 'http/protobuf', sampler: 'parentbased_always_on', ratio: 1 };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig({ ...good, ...env });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the standard variables of traces', () => {
  it.each([
    ['nothing', {}],
    ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['a name alone', { OTEL_SERVICE_NAME: 'bot' }],
    ['the SDK disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
    ['no exporter', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    [
      'no exporter, and what is not for us',
      { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    ],
  ])('leave them off with %s', (_, env) => {
    expect(parseConfig({ ...good, ...env }).tracing).toBeUndefined();
  });

  it.each([
    ['an endpoint', ENDPOINT, ON],
    ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }, ON],
    ['the exporter', { OTEL_TRACES_EXPORTER: 'otlp' }, ON],
    ['the SDK not disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, ON],
    ['JSON', { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, { ...ON, protocol: 'http/json' }],
    [
      'a protocol for traces, which goes first',
      {
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      },
      ON,
    ],
    [
      'a tenth of the traces',
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
      { ...ON, sampler: 'parentbased_traceidratio', ratio: 0.1 },
    ],
  ])('switch them on with %s', (_, env, settings) => {
    expect(parseConfig({ ...good, ...env }).tracing).toEqual(settings);
  });

  it('name what cannot be done, without its value', () => {
    const faults = faultsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector-with-a-secret:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: 'most',
      PORT: 'many',
    });
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
      'PORT',
    ]);
    expect(faults.join()).not.toContain('secret');
    expect(faultsOf({ OTEL_TRACES_EXPORTER: 'zipkin' })).toEqual([
      'OTEL_TRACES_EXPORTER must be otlp or none',
    ]);
  });
});
