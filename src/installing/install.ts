import type { IncomingMessage } from 'node:http';
import { type CallbackOptions, type CodedError, ErrorCode, type Installation } from '@slack/oauth';
import { z } from 'zod';
import type { EventHandlers, SlackEvent } from '../commands/slack-event.ts';
import type { Settings } from '../config.ts';
import { SlackFailure } from '../core/errors.ts';
import { type Clock, MINUTE_MS } from '../core/time/clock.ts';
import type { Engine } from '../jobs/jobs.ts';
import type { LinkRequests } from '../linking/link-requests.ts';
import { formatCookie, HOST_PREFIX, isPublic, sendPage } from '../listeners/public-routes.ts';
import type { Routes } from '../listeners/receivers/http-server.ts';
import { notifyOwner } from '../scheduler/schedules/pause-schedule.ts';
import { toSlackFailure, undefinedOnSlackError } from '../slack/failure.ts';
import { GROUPS_SCOPE } from '../slack/scopes.ts';
import type { Sealer } from '../store/sealer.ts';
import { GLOBAL, type Store } from '../store/store.ts';
import { welcomeMessage } from '../views/help/help-messages.ts';
import { type BrowserEnd, installedPage, installFailedPage, installPage } from '../views/public/pages.ts';
import { createHookTokens } from '../workspace/hook-tokens.ts';
import {
  type Installations,
  makeInstallationLock,
  type OauthInstallations,
  REDIRECT_PATH,
} from '../workspace/installations.ts';
import type { Parts, Workspace, Workspaces } from '../workspace/workspace.ts';
import { readInstallation } from './oauth-installations.ts';

interface LifecycleParts extends Pick<Parts, 'clock' | 'installations' | 'store'> {
  uninstalls: Uninstalls;
}

const RevokedTokens = z.object({ tokens: z.object({ bot: z.array(z.string()).nullish() }) });

/**
 * Handles the events that end an installation. Slack sends them in any order, repeatedly and late, also after a new
 * install: an event from before the current installation is ignored.
 */
export function lifecycleHandlers(parts: LifecycleParts): EventHandlers {
  const startedAt = parts.clock.now();
  return {
    async app_uninstalled({ workspace }, body) {
      // With a token from the environment, only the start of the process is known, not the time of the install.
      const mayBeBefore = parts.installations.byOauth === undefined && happenedAt(body) < startedAt;
      if (mayBeBefore && (await isTokenGood(workspace))) return;
      await eraseUnlessBack(parts, workspace, body);
    },
    async tokens_revoked({ workspace }, body) {
      const { tokens } = RevokedTokens.parse(body.event);
      // Tokens of people are not ours, and the revoked bot token may be an older one.
      if (!tokens.bot?.length) return;
      const { byOauth, about } = parts.installations;
      const mayBeOther = byOauth === undefined || (await about(workspace.id))?.isRotating === true;
      if (mayBeOther && (await isTokenGood(workspace))) return;
      await eraseUnlessBack(parts, workspace, body);
    },
  };
}

/** Erases the workspace unless it was installed again. A token from the environment has no record of its install. */
async function eraseUnlessBack(
  parts: LifecycleParts,
  { id, log }: Workspace,
  body: SlackEvent,
): Promise<void> {
  const isErased = await parts.store.exclusive(makeInstallationLock(id), async () => {
    const installation = await parts.installations.about(id);
    if (installation !== undefined && installation.installedAt > happenedAt(body)) return false;
    await parts.uninstalls.uninstall(id);
    return true;
  });
  if (isErased) log.info({ event: 'uninstalled' }, 'Workspace erased');
}

async function isTokenGood({ slack }: Workspace): Promise<boolean> {
  return (await undefinedOnSlackError(slack.call('auth.test', {}), 'revoked')) !== undefined;
}

/** Time of an event in milliseconds since the epoch. If Slack gives only the second, its end, because the install came first. */
function happenedAt({ event, event_time: seconds }: SlackEvent): number {
  const precise = typeof event.event_ts === 'string' ? Number(event.event_ts) : Number.NaN;
  const isPrecise = Math.floor(precise) === seconds && !Number.isInteger(precise);
  return isPrecise ? Math.floor(precise * 1000) : seconds * 1000 + 999;
}

const COOKIE = 'deckhand-install';

interface InstallParts extends Pick<Parts, 'clock' | 'installations' | 'log'> {
  config: Pick<Settings, 'SLACK_COMMAND' | 'SUPPORT_URL' | 'PUBLIC_URL'>;
  workspaces: Workspaces;
}

/**
 * Routes for installing through the browser; empty if the environment has the token. The library makes the address,
 * compares cookie and state, exchanges the code and stores the installation. We set the cookie, because the library's
 * has no SameSite, and is Secure even if the browser talks to this machine without TLS.
 */
export function installRoutes(parts: InstallParts): Routes {
  const { byOauth } = parts.installations;
  if (byOauth === undefined) return {};
  const providers = { public: byOauth.provider(`${HOST_PREFIX}${COOKIE}`), local: byOauth.provider(COOKIE) };
  const providerOf = (address: URL) => (isPublic(address) ? providers.public : providers.local);
  const callbackOptions = createCallbackOptions(parts, byOauth);
  return {
    async 'GET /slack/install'(request, response) {
      const address = findOwnAddress(byOauth, request);
      const url = new URL(await providerOf(address).generateInstallUrl(byOauth.options));
      const value = url.searchParams.get('state') ?? '';
      response.setHeader('set-cookie', formatCookie({ name: COOKIE, value }, address));
      // The same install with access to user groups.
      const wider = new URL(url);
      wider.searchParams.set('scope', `${url.searchParams.get('scope')},${GROUPS_SCOPE}`);
      sendPage(response, 200, installPage(url.href, wider.href), parts.config);
    },
    [`GET ${REDIRECT_PATH}`]: (request, response) =>
      providerOf(findOwnAddress(byOauth, request)).handleCallback(request, response, callbackOptions),
  };
}

/** Our own address, with the path of the cookie; guessed from the request if it is not configured. */
function findOwnAddress({ options }: OauthInstallations, { headers }: IncomingMessage): URL {
  const address = options.redirectUri ?? `http://${headers.host}`;
  return new URL('/', URL.canParse(address) ? address : 'https://localhost');
}

function createCallbackOptions(parts: InstallParts, byOauth: OauthInstallations): CallbackOptions {
  return {
    async successAsync(installation, _options, _request, response) {
      sendPage(response, 200, await welcomeInto(parts, installation), parts.config);
    },
    async failureAsync(error, _options, request, response) {
      const page = installFailedPage(await describeEnd(parts, byOauth, error, request));
      sendPage(response, page.status, page, parts.config);
    },
  };
}

async function welcomeInto({ workspaces, config, clock }: InstallParts, installation: Installation) {
  const { workspace: id, secret } = readInstallation(installation);
  const { installer, name } = secret;
  // Somebody may have used Deckhand a moment before, when it was not installed.
  const workspace = (await workspaces.enterInstalled(id)) ?? workspaces.open(id);
  await workspace.audit.record({ requestedBy: installer ?? 'unknown', what: 'install', result: 'done' });
  if (installer !== undefined) {
    const message = welcomeMessage(await describeStart(workspace));
    await notifyOwner(workspace, { id: `installed ${clock.now()}`, user: installer, message });
  }
  return installedPage(id, name, config.SLACK_COMMAND);
}

async function describeStart({ config, accounts }: Workspace) {
  const { SLACK_COMMAND: word, SERVICE_SIGNUP_URL } = config;
  const canSignUp = SERVICE_SIGNUP_URL !== undefined;
  return { word, accounts: await accounts.list(), channel: {}, isAdmin: true, isOperator: true, canSignUp };
}

/** Decides what a failed install shows. @throws errors that neither Slack nor the browser caused */
async function describeEnd(
  { log, clock }: InstallParts,
  { states }: OauthInstallations,
  error: CodedError,
  { url = '/' }: IncomingMessage,
): Promise<BrowserEnd> {
  const query = new URLSearchParams(url.split('?')[1]);
  const failure = toSlackFailure('oauth.v2.access', error, clock.now());
  const isSlacks = failure instanceof SlackFailure;
  const end = isSlacks ? describeInstallFailure(failure) : await describeReturn(error, query, states);
  const reason = isSlacks ? failure.reason : error.code;
  const err = error.code === ErrorCode.UnknownError ? { err: error } : {};
  log.warn({ event: 'install_refused', kind: end, reason, ...err }, 'Install failed');
  return end;
}

async function describeReturn(
  error: CodedError,
  query: URLSearchParams,
  states: OauthInstallations['states'],
): Promise<BrowserEnd> {
  switch (error.code) {
    case ErrorCode.AuthorizationError:
      return 'denied';
    case ErrorCode.MissingCodeError:
      return query.has('error') ? 'refused' : 'unknown';
    case ErrorCode.InvalidStateError:
      // The library checks the cookie first, and the browser forgets it when the state expires.
      return (await states.findFault(query.get('state') ?? '')) ?? 'other browser';
    case ErrorCode.MissingStateError:
    // The Host header is invalid.
    case 'ERR_INVALID_URL':
      return 'unknown';
    // Slack's answer had another shape.
    case ErrorCode.UnknownError:
      return 'unexpected';
    default:
      throw error;
  }
}

function describeInstallFailure({ kind, reason }: SlackFailure): BrowserEnd {
  if (kind === 'unreachable' || kind === 'busy') return 'unreachable';
  return reason === 'unexpected_answer' ? 'unexpected' : 'refused';
}

/** Longer than any work that is running at an uninstall. */
const LATE_WRITES_MS = 10 * MINUTE_MS;

/** An uninstalled workspace, by its id, until no late write can arrive. */
export const Uninstalled = z.object({ at: z.number() });

interface UninstallParts {
  store: Store;
  sealer: Sealer;
  engine: Engine;
  installations: Installations;
  linkRequests: LinkRequests;
  workspaces: Workspaces;
  clock: Clock;
}

/** Erases uninstalled workspaces. Running work fails without its data key or token; the next sweep deletes its leftovers. */
export function createUninstalls(parts: UninstallParts) {
  const { store, installations, clock } = parts;
  const uninstalled = store.of(GLOBAL).collection('uninstalled', Uninstalled);

  /** Erases data key, documents with the installation, jobs, link tickets and caches. */
  async function erase(workspace: string): Promise<void> {
    await store.erase(workspace);
    await parts.engine.cancel(workspace);
    await parts.linkRequests.erase(workspace);
    await createHookTokens(store).erase(workspace);
    await parts.workspaces.forget(workspace);
    parts.sealer.forget(workspace);
    await store.sweep();
  }

  return {
    /** Needs the installation's lock. Can be repeated; the next start continues an interrupted one. */
    async uninstall(workspace: string): Promise<void> {
      await uninstalled.put(workspace, { at: clock.now() });
      await installations.end(workspace);
      await erase(workspace);
    },
    /** Runs at the start and every ten minutes. */
    async sweep(): Promise<void> {
      for (const { id: workspace, doc } of await uninstalled.list())
        await store.exclusive(makeInstallationLock(workspace), async () => {
          const isBack = await installations.isInstalled(workspace);
          if (!isBack) await erase(workspace);
          if (isBack || clock.now() - doc.at >= LATE_WRITES_MS) await uninstalled.delete(workspace);
        });
    },
  };
}

export type Uninstalls = ReturnType<typeof createUninstalls>;
