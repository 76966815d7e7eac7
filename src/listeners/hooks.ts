import type { IncomingMessage } from 'node:http';
import { type Clock, withTimeout } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { PUSH_PAUSE_MS, pollPushed } from '../scheduler/schedules/polling.ts';
import { ACTIVITY } from '../scheduler/watches/feed.ts';
import { HOOK_PATH } from '../scheduler/watches/switch-push.ts';
import type { Store } from '../store/store.ts';
import { createHookTokens, type HookToken } from '../workspace/hook-tokens.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import { Refused, type Routes, sendText } from './receivers/http-server.ts';

interface HookParts {
  store: Store;
  workspaces: Workspaces;
  /** Has the process wait for work at its end. */
  track(work: Promise<void>): void;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Aborted once the process ends: polls find what is not read by then. */
  signal: AbortSignal;
}

/**
 * Calls of the service about deployments (API 4.8, 6.5 in docs/service-api.md). Anybody may send one, and its body is not
 * specified: so it is ignored, nothing is stored, and a known token only has the feed read.
 */
export function hookRoutes(parts: HookParts): Routes {
  const { store, workspaces, clock, metrics } = parts;
  const tokens = createHookTokens(store);
  const readSoon = createReading(parts);
  return {
    async [`POST ${HOOK_PATH}/*`](request, response, url) {
      await skipBody(request, clock);
      const [token = ''] = url.pathname.split('/').filter(Boolean).slice(-1);
      const hook = await tokens.find(token);
      if (hook === undefined || (await workspaces.enterInstalled(hook.workspace)) === undefined)
        return sendText(response, 404, 'not found');
      response.writeHead(204).end();
      metrics.push('came');
      readSoon(hook);
    },
  };
}

/** A call may list all changed files of a large deployment. */
const MAX_BODY_BYTES = 5_000_000;
const MAX_BODY_MS = 10_000;

/** @throws Refused if the body is too large or too slow */
async function skipBody(request: IncomingMessage, clock: Clock): Promise<void> {
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) throw new Refused(413, 'too_large');
  const isRead = await withTimeout(clock, MAX_BODY_MS, countBody(request));
  if (isRead === undefined) throw new Refused(408, 'too_slow');
}

async function countBody(request: IncomingMessage): Promise<true> {
  let size = 0;
  // The answer goes over the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Refused(413, 'too_large');
  }
  return true;
}

/** Reads an account at once, and then once more if calls came meanwhile: at most every two seconds. */
function createReading({ workspaces, track, clock, log, signal }: HookParts): (hook: HookToken) => void {
  /** The projects that calls named since the latest read began, by workspace and account. */
  const accountsByWorkspace = new Map<string, Set<string>>();

  async function read({ workspace: id, account }: HookToken, pushed: ReadonlySet<string>): Promise<void> {
    try {
      const workspace = await workspaces.enterInstalled(id);
      if (workspace !== undefined) await pollPushed(workspace, ACTIVITY, { account, pushed, signal });
    } catch (err) {
      // A poll reads it later.
      if (!signal.aborted)
        log.warn({ event: 'push_not_read', workspace: id, account, err }, 'Feed not read after a call');
    }
  }

  async function readInTurn(key: string, hook: HookToken): Promise<void> {
    for (
      let projects = accountsByWorkspace.get(key);
      projects !== undefined && projects.size > 0;
      projects = accountsByWorkspace.get(key)
    ) {
      accountsByWorkspace.set(key, new Set());
      const work = read(hook, projects);
      track(work);
      await Promise.all([work, clock.sleep(PUSH_PAUSE_MS, signal)]);
    }
    accountsByWorkspace.delete(key);
  }

  return (hook) => {
    const key = `${hook.workspace} ${hook.account}`;
    const waiting = accountsByWorkspace.get(key);
    if (waiting !== undefined) return void waiting.add(hook.project);
    accountsByWorkspace.set(key, new Set([hook.project]));
    // It rejects once the process ends.
    readInTurn(key, hook).catch(() => undefined);
  };
}
