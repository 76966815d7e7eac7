import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { cookieLine, cookiesOf, sendPage } from '../listeners/pages.ts';
import type { Handler, ReadBody, Routes } from '../listeners/receivers/http-server.ts';
import { OauthError, type ServiceOauth, type Tokens } from '../service/oauth.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import { linkedMessage } from '../views/accounts/identity.ts';
import { type LinkEnd, linkedPage, linkFailedPage, linkQuestionPage } from '../views/public/pages.ts';
import { defineJob } from '../workspace/define-job.ts';
import { addressOf, LINK_START_PATH } from '../workspace/installations.ts';
import type { Parts, Workspaces } from '../workspace/workspace.ts';
import type { LinkRequests } from './link-requests.ts';

/** The service sends browsers back to this path, as it is registered there. */
const LINK_CALLBACK_PATH = '/service/oauth/callback';

const Linked = z.object({
  user: z.string(),
  linkedAt: z.number(),
  email: z.string().optional(),
});

/** Confirms a link by direct message; a job, so that the browser does not wait for Slack. */
export const CONFIRM_LINK = defineJob({
  queue: 'tell-linked',
  schema: Linked,
  options: { concurrency: 10, attempts: 3, backoffMs: 10_000 },
  async run({ slack, config }, { data }) {
    const message = linkedMessage(config.SLACK_COMMAND, data.linkedAt, data.email);
    await undefinedOnSlackError(slack.sendDirectMessage(data.user, message), 'gone');
  },
});

export interface LinkParts extends Pick<Parts, 'config' | 'log' | 'service'> {
  linkRequests: LinkRequests;
  workspaces: Workspaces;
  readBody: ReadBody;
}

/** A step of the way through the browser. */
interface Visit extends LinkParts {
  oauth: ServiceOauth;
  /** Where the service sends the browser back. */
  callback: string;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Both ends of the way through the browser; none where linking is not configured. */
export function linkRoutes(parts: LinkParts): Routes {
  const { oauth } = parts.service;
  const { PUBLIC_URL } = parts.config;
  if (oauth === undefined || PUBLIC_URL === undefined) return {};
  const callback = addressOf(PUBLIC_URL, LINK_CALLBACK_PATH);
  const route = (step: Step): Handler => {
    return (request, response, url) => take(step, { ...parts, oauth, callback, request, response, url });
  };
  return {
    [`GET ${LINK_START_PATH}`]: route(question),
    [`POST ${LINK_START_PATH}`]: route(start),
    [`GET ${LINK_CALLBACK_PATH}`]: route(finish),
  };
}

/** @returns why it ended without success; undefined where it has answered */
type Step = (visit: Visit) => Promise<LinkEnd | undefined>;

/** Every way it can fail has its page, and none shows what the service or the address said. */
async function take(step: Step, visit: Visit): Promise<void> {
  const { config, log, response } = visit;
  const end = await step(visit).catch((error: unknown) => {
    if (!(error instanceof OauthError)) throw error;
    const { kind, message: reason } = error;
    log.warn({ event: 'link_failed', kind, reason }, 'a person could not be linked');
    return kind;
  });
  if (end === undefined) return;
  const page = linkFailedPage(end, config.SLACK_COMMAND);
  sendPage(response, page.status, page, config);
}

/** Names who asked, and begins nothing: what a link alone opens may have been sent by another person. */
async function question(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, config, response, url } = visit;
  const ticket = url.searchParams.get('ticket') ?? '';
  const requester = await linkRequests.open(ticket);
  if (typeof requester === 'string') return requester;
  const { PUBLIC_URL = '', SLACK_COMMAND } = config;
  // A service that cannot be reached is known before the person decides.
  const { url: target } = await oauth.begin(callback, linkRequests.depart().state);
  const page = new URL(addressOf(PUBLIC_URL, LINK_START_PATH));
  const { cookie, token } = linkRequests.question(ticket);
  const form = { action: page.pathname, fields: { ticket, token } };
  const { name, email, lacksScope = false, workspace, workspaceName = workspace } = requester;
  response.setHeader('set-cookie', cookieLine(cookie, page));
  allowForm(response, target);
  const asked = { name, email, lacksScope, workspace: workspaceName };
  sendPage(response, 200, linkQuestionPage(asked, form, SLACK_COMMAND), config);
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
async function start(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, request, response, readBody } = visit;
  const form = new URLSearchParams(await readBody(request));
  const ticket = form.get('ticket') ?? '';
  const requester = await linkRequests.open(ticket);
  if (typeof requester === 'string') return requester;
  const cookies = cookiesOf(request, new URL(callback));
  if (!linkRequests.isAnswer(ticket, form.get('token') ?? '', cookies)) return 'other browser';
  const departure = linkRequests.depart();
  const { url: target, verifier } = await oauth.begin(callback, departure.state);
  await linkRequests.keep(ticket, requester, departure, verifier);
  response.setHeader('set-cookie', cookieLine(departure.cookie, new URL(callback)));
  response.writeHead(303, { location: target.href }).end();
  return undefined;
}

async function finish(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, config, workspaces, request, response, url } = visit;
  const address = new URL(callback);
  const state = url.searchParams.get('state') ?? '';
  const arrived = await linkRequests.finish(state, cookiesOf(request, address));
  if (typeof arrived === 'string') return arrived;
  const { requester, verifier } = arrived;
  address.search = url.search;
  const tokens = await oauth.exchange(address, { state, verifier });
  const email = await identify(visit, tokens);
  const { user, workspace } = requester;
  const { links, audit, jobs } = workspaces.open(workspace);
  const kept = await links.keep(user, tokens, email);
  if (kept === undefined) {
    await audit.record({ who: user, what: 'link', result: 'refused' });
    return 'taken';
  }
  const { linkedAt } = kept;
  await audit.record({ who: user, what: 'link', result: 'done' });
  await jobs.send(CONFIRM_LINK, { user, linkedAt, email });
  sendPage(response, 200, linkedPage(workspace, requester.name, config.SLACK_COMMAND), config);
  return undefined;
}

/** A link stands without it. */
async function identify({ log, oauth }: Visit, tokens: Tokens): Promise<string | undefined> {
  try {
    return await oauth.identify(tokens);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    const fields = { event: 'link_unidentified', kind: error.kind, reason: error.message };
    log.warn(fields, 'The service did not say who a linked person is');
    return undefined;
  }
}
