import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDeckhand } from '../support/deckhand-process.ts';
import { openSurroundings } from '../support/surroundings.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import { startCollector } from './collector.ts';

describe('Deckhand as a process', () => {
  /** Starts it, has it answer a command, and ends it; resolves with its log and the files with traces that it loaded. */
  async function answerOnce(more: Record<string, string>): Promise<{ log: string[]; loaded: string[] }> {
    const { slack, env, close } = await openSurroundings({});
    onTestFinished(close);
    const hook = join(import.meta.dirname, 'loaded.ts');
    const deckhand = await startDeckhand({ ...env, ...more }, ['--import', hook]);
    slack.deliverTo(`${deckhand.origin}/slack/events`);
    await slack.as(TEAM, PEOPLE.member).command(CHANNEL, '/deckhand help');
    await slack.until(() => slack.ephemerals(TEAM, PEOPLE.member).length > 0);
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
    return { log: deckhand.log, loaded: deckhand.errors };
  }

  it('loads nothing of traces unless they are switched on, and tells its port however little it is to log', async () => {
    const { log, loaded } = await answerOnce({ LOG_LEVEL: 'error' });
    expect(loaded).toEqual([]);
    expect(log.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['listening']);
  });

  it('sends protobuf to the standard path, under the name it is given, and what is left at its end; says once where it is not taken, without its headers, and works on', async () => {
    const collector = await startCollector(401);
    const { log, loaded } = await answerOnce({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Collector-Secret',
      OTEL_SERVICE_NAME: 'deckhand-of-the-harbour',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=harbour',
    });
    expect(loaded).toEqual([expect.stringContaining('open-tracing')]);
    expect(collector.requests.map(({ path, type }) => ({ path, type }))).toContainEqual({
      path: '/v1/traces',
      type: 'application/x-protobuf',
    });
    const sent = collector.requests.map(({ body }) => body.toString('latin1')).join('');
    for (const words of ['command help', 'POST response_url', 'deckhand-of-the-harbour', 'harbour'])
      expect(sent).toContain(words);
    const lines = log.filter((line) => line.includes('traces_not_sent'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'warn', reason: '401' }]);
    expect(log.join()).not.toContain('Collector-Secret');
    expect(log.at(-1)).toContain('"event":"stopped"');
  });

  it('sends over gRPC', async () => {
    const paths: unknown[] = [];
    const collector = createServer().on('stream', (stream, { ':path': path }) => {
      paths.push(path);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(5));
    });
    await once(collector.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void collector.close());
    const { port } = collector.address() as AddressInfo;
    const { log } = await answerOnce({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    });
    expect(log.join()).not.toContain('traces_not_sent');
    expect(paths).toContain('/opentelemetry.proto.collector.trace.v1.TraceService/Export');
  });
});
