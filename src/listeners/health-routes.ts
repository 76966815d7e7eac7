import type { Parts } from '../workspace/workspace.ts';
import { type Routes, sendText, withHead } from './receivers/http-server.ts';

type HealthParts = Pick<Parts, 'store' | 'engine' | 'log' | 'metrics' | 'tokenHealth'>;

/** What probes and Prometheus ask. */
export function healthRoutes(parts: HealthParts, isDraining: () => boolean): Routes {
  const { metrics } = parts;
  return withHead({
    'GET /healthz': (_, response) => sendText(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      const refused = parts.tokenHealth.refused();
      if (isDraining()) return sendText(response, 503, 'draining');
      if (refused !== undefined) return sendText(response, 503, `slack: ${refused.reason}`);
      sendText(response, 200, ['ready', ...(await troublesOf(parts))].join(', '));
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

/** With these people still get an answer that says so, which no proxy may take from them. */
async function troublesOf({ store, engine, log, tokenHealth }: HealthParts): Promise<string[]> {
  const slack = tokenHealth.isUnreached() ? ['slack: not reached yet'] : [];
  try {
    await Promise.all([store.ping(), engine.ping()]);
    return slack;
  } catch (error) {
    log.error({ event: 'not_ready', err: error }, 'the store or the engine does not answer');
    return [...slack, 'store: does not answer'];
  }
}
