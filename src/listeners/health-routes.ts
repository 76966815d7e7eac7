import type { Parts } from '../workspace/workspace.ts';
import { type Routes, sendText, withHead } from './receivers/http-server.ts';

type HealthParts = Pick<Parts, 'store' | 'engine' | 'log' | 'metrics' | 'tokenHealth'>;

/** What probes and Prometheus ask. */
export function healthRoutes(parts: HealthParts, isDraining: () => boolean): Routes {
  const { metrics } = parts;
  return withHead({
    'GET /healthz': (_, response) => sendText(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      const fault = isDraining() ? 'draining' : await faultOf(parts);
      const ready = parts.tokenHealth.isUnreached() ? 'ready, slack: not reached yet' : 'ready';
      sendText(response, fault === undefined ? 200 : 503, fault ?? ready);
    },
    'GET /metrics': async (_, response) => {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  });
}

/** The routes of the public port, where metrics have a port of their own. */
export function withoutMetrics({ 'GET /metrics': _, 'HEAD /metrics': __, ...routes }: Routes): Routes {
  return routes;
}

async function faultOf({ store, engine, log, tokenHealth }: HealthParts): Promise<string | undefined> {
  try {
    await Promise.all([store.ping(), engine.ping()]);
  } catch (error) {
    log.error({ event: 'not_ready', err: error }, 'the store or the engine does not answer');
    return 'the store or the engine does not answer';
  }
  const refused = tokenHealth.refused();
  return refused && `slack: ${refused.reason}`;
}
