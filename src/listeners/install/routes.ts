import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Settings } from '../../core/settings.ts';
import type { Job } from '../../jobs/jobs.ts';
import { isSlackFailure, type SlackFailure } from '../../slack/failure.ts';
import { GROUPS_SCOPE, SCOPE_NAMES } from '../../slack/oauth.ts';
import {
  type BrowserEnd,
  installedPage,
  installFailedPage,
  installPage,
} from '../../views/accounts/browser-pages.ts';
import type { Page } from '../../views/blocks/page.ts';
import { welcomeMessage } from '../../views/help/start.ts';
import { type BrowserStates, createBrowserStates } from '../../workspace/browser-states.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { OauthInstallations } from '../../workspace/installations.ts';
import type { Parts, Workspace, Workspaces } from '../../workspace/workspace.ts';
import { cookieLine, cookiesOf, sendPage } from '../pages.ts';
import type { Routes } from '../receivers/http-server.ts';

const CALLBACK_PATH = '/slack/oauth_redirect';

/** What installing needs of the process. */
interface InstallParts extends Pick<Parts, 'clock' | 'installations' | 'log' | 'store'> {
  config: Pick<Settings, 'SLACK_COMMAND' | 'PUBLIC_URL' | 'SUPPORT_URL'> & { SLACK_AUTHORIZE_URL: string };
  workspaces: Workspaces;
}

interface Install {
  parts: InstallParts;
  byOauth: OauthInstallations;
  states: BrowserStates<object>;
}

/** Installing into a workspace through the browser; none where the environment holds the one token. */
export function installRoutes(parts: InstallParts): Routes {
  const { byOauth } = parts.installations;
  if (byOauth === undefined) return {};
  const states = createBrowserStates(parts, 'install', z.object({}));
  const install: Install = { parts, byOauth, states };
  return {
    'GET /slack/install': (request, response) => begin(install, request, response),
    [`GET ${CALLBACK_PATH}`]: async (request, response, url) => {
      const end = await arrive(install, request, url);
      const page = typeof end === 'string' ? installFailedPage(end) : { status: 200, ...end };
      return sendPage(response, page.status, page, parts.config);
    },
  };
}

/** Binds this browser by a cookie and shows the way to Slack. */
async function begin(install: Install, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { parts, states } = install;
  const departure = states.depart();
  await states.keep(departure, {});
  const { state, cookie } = departure;
  response.setHeader('set-cookie', cookieLine(cookie, callbackUrl(parts, request)));
  const plain = authorizeUrl(install, state, SCOPE_NAMES);
  const page = installPage(plain, authorizeUrl(install, state, [...SCOPE_NAMES, GROUPS_SCOPE]));
  sendPage(response, 200, page, parts.config);
}

function authorizeUrl({ parts, byOauth }: Install, state: string, scopes: readonly string[]): string {
  const url = new URL(parts.config.SLACK_AUTHORIZE_URL);
  url.searchParams.set('client_id', byOauth.clientId);
  url.searchParams.set('scope', scopes.join(','));
  url.searchParams.set('state', state);
  const redirectUri = redirectOf(parts);
  if (redirectUri !== undefined) url.searchParams.set('redirect_uri', redirectUri);
  return url.href;
}

/** The state comes first: nothing else of the address is looked at before it proves to be ours. */
async function arrive(
  { parts, byOauth, states }: Install,
  request: IncomingMessage,
  url: URL,
): Promise<BrowserEnd | Page> {
  const cookies = cookiesOf(request, callbackUrl(parts, request));
  const arrived = await states.arrive(url.searchParams.get('state') ?? '', cookies);
  if (typeof arrived === 'string') return refuse(parts, arrived);
  const code = url.searchParams.get('code');
  if (code === null || url.searchParams.has('error')) return refuse(parts, 'denied');
  try {
    const { workspace, installer, name } = await byOauth.install(code, redirectOf(parts));
    const who = installer ?? 'unknown';
    const { audit, jobs } = await parts.workspaces.enter(workspace);
    await audit.record({ who, what: 'install', result: 'done' });
    if (installer !== undefined) await jobs.send(WELCOME, { user: installer });
    return installedPage(workspace, name, parts.config.SLACK_COMMAND);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return refuse(parts, endOf(error), error.reason);
  }
}

function refuse({ log }: InstallParts, end: BrowserEnd, reason: string = end): BrowserEnd {
  log.warn({ event: 'install_refused', kind: end, reason }, 'nothing was installed');
  return end;
}

function endOf({ kind, reason }: SlackFailure): BrowserEnd {
  if (kind === 'unreachable' || kind === 'busy') return 'unreachable';
  return reason === 'unexpected_answer' || reason === 'no_workspace' ? 'unexpected' : 'refused';
}

/** Left out where we do not know our own address: Slack then takes the first one that was registered. */
function redirectOf({ config }: InstallParts): string | undefined {
  const base = config.PUBLIC_URL?.replace(/\/+$/, '');
  return base === undefined ? undefined : `${base}${CALLBACK_PATH}`;
}

function callbackUrl(parts: InstallParts, { headers }: IncomingMessage): URL {
  const known = redirectOf(parts);
  const asAsked = URL.parse(CALLBACK_PATH, `http://${headers.host}`);
  return known === undefined ? (asAsked ?? new URL(`https://localhost${CALLBACK_PATH}`)) : new URL(known);
}

const Greeting = z.object({ user: z.string() });
type Greeting = z.infer<typeof Greeting>;

/** Greets the person who installed Deckhand, by direct message; a job, so that the browser does not wait for Slack. */
export const WELCOME = defineJob({
  queue: 'welcome',
  schema: Greeting,
  options: { concurrency: 10, attempts: 5, backoffMs: 10_000 },
  run: welcome,
});

async function welcome({ config, accounts, slack }: Workspace, { data }: Job<Greeting>): Promise<void> {
  const { SLACK_COMMAND: word, SERVICE_SIGNUP_URL } = config;
  const canSignUp = SERVICE_SIGNUP_URL !== undefined;
  const standing = { word, accounts: await accounts.list(), channel: {}, isAdmin: true, canSignUp };
  await slack.sendDirectMessage(data.user, welcomeMessage(standing));
}
