import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deckhand } from '../../deckhand.ts';
import type { JobData } from '../../jobs/jobs.ts';
import { isSlackFailure, type SlackFailure } from '../../slack/failure.ts';
import type { OauthInstallations } from '../../slack/installations.ts';
import { GROUPS_SCOPE } from '../../slack/scopes.ts';
import {
  type InstallEnd,
  installedPage,
  installFailedPage,
  installPage,
} from '../../views/accounts/install-pages.ts';
import { type Page, pageOf } from '../../views/blocks/page.ts';
import { cookieLine, cookiesOf } from '../cookies.ts';
import { type Routes, sendText } from '../receivers/http-server.ts';
import { createInstallStates, type InstallStates } from './states.ts';
import { WELCOME } from './welcome.ts';

const CALLBACK_PATH = '/slack/oauth_redirect';

interface Install {
  deckhand: Deckhand;
  byOauth: OauthInstallations;
  states: InstallStates;
}

/** Installing into a workspace through the browser; none where the environment holds the one token. */
export function installRoutes(deckhand: Deckhand): Routes {
  const { byOauth } = deckhand.installations;
  if (byOauth === undefined) return {};
  const install: Install = { deckhand, byOauth, states: createInstallStates(deckhand) };
  return {
    'GET /slack/install': (request, response) => begin(install, request, response),
    [`GET ${CALLBACK_PATH}`]: async (request, response, url) => {
      const end = await arrive(install, request, url);
      if (typeof end === 'string') {
        const page = installFailedPage(end);
        return sendPage(response, page.status, page);
      }
      return sendPage(response, 200, end);
    },
  };
}

/** Binds this browser by a cookie and shows the way to Slack. */
async function begin(install: Install, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { deckhand, states } = install;
  const { state, cookie } = await states.depart();
  response.setHeader('set-cookie', cookieLine(cookie, callbackUrl(deckhand, request)));
  const { scopes } = deckhand;
  const plain = authorizeUrl(install, state, scopes);
  sendPage(response, 200, installPage(plain, authorizeUrl(install, state, [...scopes, GROUPS_SCOPE])));
}

function authorizeUrl({ deckhand, byOauth }: Install, state: string, scopes: readonly string[]): string {
  const url = new URL(deckhand.config.SLACK_AUTHORIZE_URL);
  url.searchParams.set('client_id', byOauth.clientId);
  url.searchParams.set('scope', scopes.join(','));
  url.searchParams.set('state', state);
  const redirectUri = redirectOf(deckhand);
  if (redirectUri !== undefined) url.searchParams.set('redirect_uri', redirectUri);
  return url.href;
}

/** The state comes first: nothing else of the address is looked at before it proves to be ours. */
async function arrive(
  { deckhand, byOauth, states }: Install,
  request: IncomingMessage,
  url: URL,
): Promise<InstallEnd | Page> {
  const fault = await states.arrive(url.searchParams.get('state') ?? '', cookiesOf(request));
  if (fault !== undefined) return refuse(deckhand, fault);
  const code = url.searchParams.get('code');
  if (code === null || url.searchParams.has('error')) return refuse(deckhand, 'denied');
  try {
    const { workspace, installer, name } = await byOauth.install(code, redirectOf(deckhand));
    const who = installer ?? 'unknown';
    await deckhand.audit.record(workspace, { who, what: 'install', result: 'done' });
    if (installer !== undefined) await deckhand.engine.send<JobData>(WELCOME, { workspace, user: installer });
    return installedPage(name, deckhand.config.SLACK_COMMAND);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return refuse(deckhand, endOf(error), error.reason);
  }
}

function refuse({ log }: Deckhand, end: InstallEnd, reason: string = end): InstallEnd {
  log.warn({ event: 'install_refused', kind: end, reason }, 'nothing was installed');
  return end;
}

function endOf({ kind, reason }: SlackFailure): InstallEnd {
  if (kind === 'unreachable' || kind === 'busy') return 'unreachable';
  return reason === 'unexpected_answer' || reason === 'no_workspace' ? 'unexpected' : 'refused';
}

/** Left out where we do not know our own address: Slack then takes the first one that was registered. */
function redirectOf({ config }: Deckhand): string | undefined {
  const base = config.PUBLIC_URL?.replace(/\/+$/, '');
  return base === undefined ? undefined : `${base}${CALLBACK_PATH}`;
}

function callbackUrl(deckhand: Deckhand, { headers }: IncomingMessage): URL {
  const known = redirectOf(deckhand);
  const asAsked = URL.parse(CALLBACK_PATH, `http://${headers.host}`);
  return known === undefined ? (asAsked ?? new URL(`https://localhost${CALLBACK_PATH}`)) : new URL(known);
}

function sendPage(response: ServerResponse, status: number, page: Page): void {
  sendText(response, status, pageOf(page), 'text/html');
}
