import { withTimeout } from '../core/clock.ts';
import type { Parts } from '../workspace/workspace.ts';
import { type Routes, sendText, withHead } from './receivers/http-server.ts';

type HealthParts = Pick<Parts, 'store' | 'engine' | 'clock' | 'log' | 'metrics' | 'tokenHealth'>;

/** Proxies give a probe one second. */
const ANSWER_MS = 700;
const STORE_AWAY = 'store: does not answer';

/** What probes and Prometheus ask. */
export function healthRoutes(parts: HealthParts, isDraining: () => boolean): Routes {
  const { metrics, tokenHealth } = parts;
  const checkStore = createStoreCheck(parts);
  return withHead({
    'GET /healthz': (_, response) => sendText(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      const refused = tokenHealth.refused();
      if (isDraining()) return sendText(response, 503, 'draining');
      if (refused !== undefined) return sendText(response, 503, `slack: ${refused.reason}`);
      // With these people still get an answer that says so, which no proxy may take from them.
      const slack = tokenHealth.isUnreached() ? ['slack: not reached yet'] : [];
      const store = (await checkStore()) ? [] : [STORE_AWAY];
      sendText(response, 200, ['ready', ...slack, ...store].join(', '));
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

/** Probes at the same time share one check, so that any number of proxies adds no load to a slow database. */
function createStoreCheck({ store, engine, clock, log }: HealthParts): () => Promise<boolean> {
  let checking: Promise<boolean> | undefined;

  async function check(): Promise<boolean> {
    try {
      await Promise.all([store.ping(), engine.ping()]);
      return true;
    } catch (err) {
      log.error({ event: 'not_ready', err }, 'Store unavailable');
      return false;
    } finally {
      checking = undefined;
    }
  }

  return async () => {
    checking ??= check();
    return (await withTimeout(clock, ANSWER_MS, checking)) ?? false;
  };
}
