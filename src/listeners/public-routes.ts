import type { IncomingMessage, ServerResponse } from 'node:http';
import { KEPT_MS as DELIVERIES_MS } from '../cards/deliver.ts';
import type { Settings } from '../config.ts';
import { isThisMachine, trimSlashes } from '../core/http.ts';
import { DAY_MS, withTimeout } from '../core/time/clock.ts';
import { KEPT_MS as AUDIT_MS, MAX_AUDIT_ROWS } from '../records/audit-log.ts';
import { QUIET_MS } from '../records/episodes.ts';
import { KEPT_MS as LEDGER_MS } from '../records/ledger.ts';
import { KEPT_MS as QUIETS_MS } from '../records/quiets.ts';
import { KEPT_MS as RECOVERIES_MS } from '../records/recoveries.ts';
import { KEPT_MS as RUNS_MS } from '../records/test-runs.ts';
import { KEPT_MS as SERVERS_MS } from '../scheduler/servers/provisioning.ts';
import { KEPT_MS as ORDERS_MS } from '../scheduler/servers/server-order.ts';
import { frontPage, type Page, privacyPage, type Retention, renderPage } from '../views/public/pages.ts';
import type { Parts } from '../workspace/workspace.ts';
import { CLAIM_MS } from './pipeline/handle-interaction.ts';
import { type Routes, sendText, withHead } from './receivers/http-server.ts';

/** Sends a page with the operator's support link, if there is one. Links to our own pages keep the path of the public address. */
export function sendPage(
  response: ServerResponse,
  status: number,
  page: Page,
  { SUPPORT_URL: help, PUBLIC_URL }: Pick<Settings, 'SUPPORT_URL' | 'PUBLIC_URL'>,
): void {
  const basePath = readBasePath(PUBLIC_URL);
  const ownLinks = (page.links ?? []).map(({ label, url }) => ({
    label,
    url: url.startsWith('/') ? `${basePath}${url}` : url,
  }));
  const links = help === undefined ? ownLinks : [...ownLinks, { label: 'Get help', url: help }];
  sendText(response, status, renderPage({ ...page, links }), 'text/html');
}

/** Path of the public address, without a slash at its end. */
export function readBasePath(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : trimSlashes(new URL(publicUrl).pathname);
}

/** Browsers accept a cookie with this prefix only from the host itself, over https, with the path `/`. */
export const HOST_PREFIX = '__Host-';

/**
 * Header for a cookie of ten minutes, which no script can read. The browser returns it to `url`, or to the whole host if
 * that is public. Lax, because the browser comes back from another site; Secure, unless this machine talks to itself.
 */
export function formatCookie({ name, value }: { name: string; value: string }, url: URL): string {
  const rest = 'Max-Age=600; HttpOnly; SameSite=Lax';
  return isPublic(url)
    ? `${HOST_PREFIX}${name}=${value}; Path=/; ${rest}; Secure`
    : `${name}=${value}; Path=${url.pathname}; ${rest}`;
}

/** Cookies that `formatCookie` set for `url`, by name without prefix. */
export function readCookies(request: IncomingMessage, url: URL): Record<string, string | undefined> {
  const prefix = isPublic(url) ? HOST_PREFIX : '';
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const ours = pairs.filter(([name = '']) => name.startsWith(prefix));
  return Object.fromEntries(ours.map(([name = '', value]) => [name.slice(prefix.length), value]));
}

export function isPublic(url: URL): boolean {
  return url.protocol === 'https:' || !isThisMachine(url.hostname);
}

function readRetention(): Retention {
  const inDays = (ms: number): number => ms / DAY_MS;
  return {
    audit: inDays(AUDIT_MS),
    auditRows: MAX_AUDIT_ROWS,
    runs: inDays(RUNS_MS),
    episodes: inDays(QUIET_MS),
    ledger: inDays(LEDGER_MS),
    recoveries: inDays(RECOVERIES_MS),
    quiets: inDays(QUIETS_MS),
    orders: inDays(ORDERS_MS),
    clicks: inDays(CLAIM_MS),
    servers: inDays(SERVERS_MS),
    deliveries: inDays(DELIVERIES_MS),
  };
}

/** Public pages: what Deckhand is, and what it stores. */
export function publicRoutes({ config, installations }: Pick<Parts, 'config' | 'installations'>): Routes {
  const installPath = installations.byOauth === undefined ? undefined : '/slack/install';
  const front = frontPage(config.SLACK_COMMAND, installPath);
  const show = (page: Page): Routes[string] => {
    return (_, response) => sendPage(response, 200, page, config);
  };
  return withHead({ 'GET /': show(front), 'GET /privacy': show(privacyPage(readRetention())) });
}

type HealthParts = Pick<Parts, 'store' | 'engine' | 'clock' | 'log' | 'metrics' | 'tokenHealth'>;

/** Proxies wait one second for a probe. */
const ANSWER_MS = 700;
const STORE_AWAY = 'store: does not answer';

/** Routes for probes and Prometheus. */
export function healthRoutes(parts: HealthParts, isDraining: () => boolean): Routes {
  const { metrics, tokenHealth } = parts;
  const checkStore = createStoreCheck(parts);
  return withHead({
    'GET /healthz': (_, response) => sendText(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      if (isDraining()) return sendText(response, 503, 'draining');
      // Ready without Slack or store too: another replica has neither, and people get an answer that says so.
      const slack = describeSlack(tokenHealth);
      const store = (await checkStore()) ? [] : [STORE_AWAY];
      sendText(response, 200, ['ready', ...slack, ...store].join(', '));
    },
    'GET /metrics': async (_, response) => {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  });
}

/** Empty if Slack accepts the tokens and is connected. */
function describeSlack(tokenHealth: HealthParts['tokenHealth']): string[] {
  const refused = tokenHealth.refused();
  if (refused !== undefined) return [`slack: ${refused.reason}`];
  if (tokenHealth.isUnreached()) return ['slack: not reached yet'];
  return tokenHealth.isDisconnected() ? ['slack: not connected'] : [];
}

/** Routes of the public port if metrics have their own. */
export function withoutMetrics({ 'GET /metrics': _, 'HEAD /metrics': __, ...routes }: Routes): Routes {
  return routes;
}

/** Shares one check among simultaneous probes, so that many proxies add no load to a slow database. */
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
