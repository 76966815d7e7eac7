import type { IncomingMessage, ServerResponse } from 'node:http';
import { UserError } from '../core/errors.ts';
import { formatCookie, readCookies, sendPage } from '../listeners/public-routes.ts';
import type { Handler, ReadBody, Routes } from '../listeners/receivers/http-server.ts';
import type { Link } from '../records/user-links.ts';
import { notifyOwner } from '../scheduler/schedules/pause-schedule.ts';
import { type Identity, OauthError, type ServiceOauth, type Tokens } from '../service/oauth.ts';
import { linkedMessage } from '../views/accounts/identity-messages.ts';
import { type LinkEnd, linkedPage, linkFailedPage, linkQuestionPage } from '../views/public/pages.ts';
import { LINK_START_PATH, makePublicAddress } from '../workspace/installations.ts';
import type { LinkRequest, Parts, Workspace, Workspaces } from '../workspace/workspace.ts';
import type { LinkRequests } from './link-requests.ts';

/** The service sends browsers back to this path, as it is registered there. */
const LINK_CALLBACK_PATH = '/service/oauth/callback';

export interface LinkParts extends Pick<Parts, 'config' | 'log' | 'service'> {
  linkRequests: LinkRequests;
  workspaces: Workspaces;
  readBody: ReadBody;
}

/** A request of the browser, with everything that a step needs. */
interface Visit extends LinkParts {
  oauth: ServiceOauth;
  /** Address that the service sends the browser back to. */
  callback: string;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Routes for linking through the browser; empty if linking is not configured. */
export function linkRoutes(parts: LinkParts): Routes {
  const { oauth } = parts.service;
  const { PUBLIC_URL } = parts.config;
  if (oauth === undefined || PUBLIC_URL === undefined) return {};
  const callback = makePublicAddress(PUBLIC_URL, LINK_CALLBACK_PATH);
  const route = (step: Step): Handler => {
    return (request, response, url) =>
      handleLinkStep(step, { ...parts, oauth, callback, request, response, url });
  };
  return {
    [`GET ${LINK_START_PATH}`]: route(showQuestion),
    [`POST ${LINK_START_PATH}`]: route(sendToService),
    [`GET ${LINK_CALLBACK_PATH}`]: route(finishLink),
  };
}

/** Returns why linking failed; undefined if the step has answered. */
type Step = (visit: Visit) => Promise<LinkEnd | undefined>;

/** Runs a step. Each failure has its page, which shows nothing of the service's answer or the address. */
async function handleLinkStep(step: Step, visit: Visit): Promise<void> {
  const { config, log, response } = visit;
  const end = await step(visit).catch((error: unknown) => {
    if (!(error instanceof OauthError)) throw error;
    const { kind, message: reason } = error;
    log.warn({ event: 'link_failed', kind, reason }, 'Link failed');
    return kind;
  });
  if (end === undefined) return;
  const page = linkFailedPage(end, config.SLACK_COMMAND);
  sendPage(response, page.status, page, config);
}

/** Shows whose link it is and begins nothing, because another person may have sent the address. */
async function showQuestion(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, config, response, url } = visit;
  const ticket = url.searchParams.get('ticket') ?? '';
  const linkRequest = await linkRequests.open(ticket);
  if (typeof linkRequest === 'string') return linkRequest;
  const { PUBLIC_URL = '', SLACK_COMMAND } = config;
  // Fails now, before the person decides, if the service cannot be reached.
  const { url: target } = await oauth.begin(callback, linkRequests.depart().state);
  const page = new URL(makePublicAddress(PUBLIC_URL, LINK_START_PATH));
  const { cookie, token } = linkRequests.question(ticket);
  const form = { action: page.pathname, fields: { ticket, token } };
  const { name, email, lacksScope = false, workspace, workspaceName = workspace } = linkRequest;
  response.setHeader('set-cookie', formatCookie(cookie, page));
  allowForm(response, target);
  const person = { name, email, lacksScope, workspace: workspaceName };
  sendPage(response, 200, linkQuestionPage(person, form, SLACK_COMMAND), config);
  return undefined;
}

/** Allows the form to lead to us and on to the service, whose sign-in may be on another site. */
function allowForm(response: ServerResponse, { protocol, origin }: URL): void {
  const targets = protocol === 'https:' ? 'https:' : `https: ${origin}`;
  const policy = String(response.getHeader('content-security-policy'));
  const allowed = policy.replace("form-action 'none'", `form-action 'self' ${targets}`);
  response.setHeader('content-security-policy', allowed);
}

/** Binds this browser by a cookie and sends it on to the service. */
async function sendToService(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, request, response, readBody } = visit;
  const form = new URLSearchParams(await readBody(request));
  const ticket = form.get('ticket') ?? '';
  const linkRequest = await linkRequests.open(ticket);
  if (typeof linkRequest === 'string') return linkRequest;
  const cookies = readCookies(request, new URL(callback));
  if (!linkRequests.isAnswer(ticket, form.get('token') ?? '', cookies)) return 'other browser';
  const departure = linkRequests.depart();
  const { url: target, verifier } = await oauth.begin(callback, departure.state);
  await linkRequests.keep(ticket, linkRequest, departure, verifier);
  response.setHeader('set-cookie', formatCookie(departure.cookie, new URL(callback)));
  response.writeHead(303, { location: target.href }).end();
  return undefined;
}

async function finishLink(visit: Visit): Promise<LinkEnd | undefined> {
  const { linkRequests, oauth, callback, request, url } = visit;
  const address = new URL(callback);
  const state = url.searchParams.get('state') ?? '';
  const outcome = await linkRequests.finish(state, readCookies(request, address));
  if (typeof outcome === 'string') return outcome;
  const { linkRequest, verifier } = outcome;
  address.search = url.search;
  const tokens = await oauth.exchange(address, { state, verifier });
  const identity = await identify(visit, tokens);
  // The page does not wait for the service to revoke the tokens.
  const [end] = await Promise.all([storeLink(visit, linkRequest, identity), revoke(visit, tokens)]);
  return end;
}

async function storeLink(
  { config, workspaces, response }: Visit,
  { user, name, workspace: id }: LinkRequest,
  identity: Identity,
): Promise<LinkEnd | undefined> {
  const workspace = workspaces.open(id);
  const link = await workspace.links.keep(user, identity);
  if (link === undefined) {
    await workspace.audit.record({ requestedBy: user, what: 'link', result: 'refused' });
    return 'taken';
  }
  const { linkedAt } = link;
  await workspace.audit.record({ requestedBy: user, what: 'link', result: 'done' });
  await claimName(workspace, user, link);
  const message = linkedMessage(config.SLACK_COMMAND, link);
  await notifyOwner(workspace, { id: `linked ${user} ${linkedAt}`, user, message });
  sendPage(response, 200, linkedPage(workspace.id, name, config.SLACK_COMMAND), config);
  return undefined;
}

/** Claims the person's name in the accounts in which they have none. The time of the link is that of its claims. */
async function claimName({ accounts, names }: Workspace, user: string, link: Link): Promise<void> {
  if (link.name === undefined) return;
  for (const { name: account } of await accounts.list()) {
    if ((await names.list(account)).some((claim) => claim.user === user)) continue;
    await names.claim(account, user, link.name, { at: link.linkedAt }).catch((error: unknown) => {
      // Somebody else has the name there, and an admin can release it.
      if (!(error instanceof UserError)) throw error;
    });
  }
}

/** Revokes tokens that have told who their owner is. A link does not depend on it. */
async function revoke({ log, oauth }: Visit, tokens: Tokens): Promise<void> {
  try {
    await oauth.revoke(tokens);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    const fields = { event: 'link_token_not_revoked', kind: error.kind, reason: error.message };
    log.warn(fields, 'Token of a link not revoked');
  }
}

/** Returns who the person is at the service. A link works without it. */
async function identify({ log, oauth }: Visit, tokens: Tokens): Promise<Identity> {
  try {
    return await oauth.identify(tokens);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    const fields = { event: 'link_unidentified', kind: error.kind, reason: error.message };
    log.warn(fields, 'Linked person not identified');
    return {};
  }
}
