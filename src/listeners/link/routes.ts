import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { OauthError, type ServiceOauth, type Tokens } from '../../service/oauth.ts';
import {
  type BrowserEnd,
  linkedPage,
  linkFailedPage,
  linkQuestionPage,
} from '../../views/accounts/browser-pages.ts';
import { linkedMessage } from '../../views/accounts/link.ts';
import { defineJob } from '../../workspace/define-job.ts';
import {
  type Asker,
  CALLBACK_PATH,
  callbackAddress,
  type LinkRequests,
  pageAddress,
  START_PATH,
} from '../../workspace/link-requests.ts';
import type { Parts, Workspaces } from '../../workspace/workspace.ts';
import { cookieLine, cookiesOf, sendPage } from '../pages.ts';
import { readBody } from '../receivers/http-receiver.ts';
import type { Routes } from '../receivers/http-server.ts';

const Linked = z.object({
  user: z.string(),
  linkedAt: z.number().default(0),
  email: z.string().optional(),
});

/** Confirms a link by direct message; a job, so that the browser does not wait for Slack. */
export const CONFIRM_LINK = defineJob({
  queue: 'tell-linked',
  schema: Linked,
  options: { concurrency: 10, attempts: 3, backoffMs: 10_000 },
  async run({ slack, config }, { data }) {
    await slack.sendDirectMessage(data.user, linkedMessage(config.SLACK_COMMAND, data.linkedAt, data.email));
  },
});

export interface LinkParts extends Pick<Parts, 'config' | 'log' | 'service'> {
  workspaces: Workspaces;
  linkRequests: LinkRequests;
}

/** Both ends of the way through the browser; none where linking is not configured. */
export function linkRoutes(parts: LinkParts): Routes {
  const { oauth } = parts.service;
  const { PUBLIC_URL } = parts.config;
  if (oauth === undefined || PUBLIC_URL === undefined) return {};
  const callback = callbackAddress(PUBLIC_URL);
  return {
    [`GET ${START_PATH}`]: (_, response, url) =>
      ending(parts, response, () => question(parts, oauth, callback, url, response)),
    [`POST ${START_PATH}`]: (request, response) =>
      ending(parts, response, () => start(parts, oauth, callback, request, response)),
    [`GET ${CALLBACK_PATH}`]: (request, response, url) =>
      ending(parts, response, () => arrive(parts, oauth, callback, url, request, response)),
  };
}

/** Names who asked, and begins nothing: what a link alone opens may have been sent by another person. */
async function question(
  parts: LinkParts,
  oauth: ServiceOauth,
  callback: string,
  url: URL,
  response: ServerResponse,
): Promise<BrowserEnd | undefined> {
  const ticket = url.searchParams.get('ticket') ?? '';
  const asker = await parts.linkRequests.open(ticket);
  if (typeof asker === 'string') return asker;
  const { PUBLIC_URL = '', SLACK_COMMAND } = parts.config;
  // A service that cannot be reached is known before the person decides.
  const { url: target } = await oauth.begin(callback, parts.linkRequests.depart().state);
  const page = new URL(pageAddress(PUBLIC_URL));
  const { cookie, token } = parts.linkRequests.question(ticket);
  const form = { action: page.pathname, fields: { ticket, token } };
  const named = { name: asker.name, workspace: asker.workspaceName ?? asker.workspace };
  response.setHeader('set-cookie', cookieLine(cookie, page));
  allowForm(response, target);
  sendPage(response, 200, linkQuestionPage(named, form, SLACK_COMMAND), parts.config);
  return undefined;
}

/** The form leads to us, and from there to the service, whose sign-in may be on yet another site. */
function allowForm(response: ServerResponse, { protocol, origin }: URL): void {
  const targets = protocol === 'https:' ? 'https:' : `https: ${origin}`;
  const policy = String(response.getHeader('content-security-policy'));
  const allowed = policy.replace("form-action 'none'", `form-action 'self' ${targets}`);
  response.setHeader('content-security-policy', allowed);
}

/** Binds this browser by a cookie and sends it on to the service. */
async function start(
  parts: LinkParts,
  oauth: ServiceOauth,
  callback: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<BrowserEnd | undefined> {
  const form = new URLSearchParams((await readBody(request))?.toString('utf8'));
  const ticket = form.get('ticket') ?? '';
  const asker = await parts.linkRequests.open(ticket);
  if (typeof asker === 'string') return asker;
  const cookies = cookiesOf(request, new URL(callback));
  if (!parts.linkRequests.isAnswer(ticket, form.get('token') ?? '', cookies)) return 'other browser';
  const departure = parts.linkRequests.depart();
  const { url: target, verifier } = await oauth.begin(callback, departure.state);
  await parts.linkRequests.keep(ticket, asker, departure, verifier);
  response.setHeader('set-cookie', cookieLine(departure.cookie, new URL(callback)));
  response.writeHead(303, { location: target.href }).end();
  return undefined;
}

async function arrive(
  parts: LinkParts,
  oauth: ServiceOauth,
  callback: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<BrowserEnd | undefined> {
  const state = url.searchParams.get('state') ?? '';
  const arrived = await parts.linkRequests.arrive({ state, cookies: cookiesOf(request, new URL(callback)) });
  if (typeof arrived === 'string') return arrived;
  const { asker, verifier } = arrived;
  const address = new URL(callback);
  address.search = url.search;
  const tokens = await oauth.exchange(address, { state, verifier });
  const email = await identify(parts, oauth, tokens);
  const { user } = asker;
  const { links, audit, jobs } = await parts.workspaces.enter(asker.workspace);
  const { linkedAt } = await links.keep(user, tokens, email);
  await audit.record({ who: user, what: 'link', result: 'done' });
  await jobs.send(CONFIRM_LINK, { user, linkedAt, email });
  sendDone(parts, asker, response);
  return undefined;
}

/** A link stands without it: then it changes nothing but what `whoami` says. */
async function identify(
  { log }: LinkParts,
  oauth: ServiceOauth,
  tokens: Tokens,
): Promise<string | undefined> {
  try {
    return await oauth.identify(tokens);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    const fields = { event: 'link_unidentified', kind: error.kind, reason: error.message };
    log.warn(fields, 'The service did not say who a linked person is');
    return undefined;
  }
}

function sendDone({ config }: LinkParts, { workspace, name }: Asker, response: ServerResponse): void {
  sendPage(response, 200, linkedPage(workspace, name, config.SLACK_COMMAND), config);
}

/** Every way it can fail has its page, and none shows what the service or the address said. */
async function ending(
  parts: LinkParts,
  response: ServerResponse,
  work: () => Promise<BrowserEnd | undefined>,
): Promise<void> {
  const end = await work().catch((error: unknown) => {
    if (!(error instanceof OauthError)) throw error;
    parts.log.warn(
      { event: 'link_failed', kind: error.kind, reason: error.message },
      'a person could not be linked',
    );
    return error.kind;
  });
  if (end === undefined) return;
  const page = linkFailedPage(end, parts.config.SLACK_COMMAND);
  sendPage(response, page.status, page, parts.config);
}
