import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deckhand } from '../../deckhand.ts';
import { OauthError, type ServiceOauth } from '../../service/oauth.ts';
import { linkedMessage } from '../../views/accounts/link.ts';
import { type LinkEnd, linkedPage, linkFailedPage } from '../../views/accounts/link-pages.ts';
import { pageOf } from '../../views/blocks/page.ts';
import { CALLBACK_PATH, callbackAddress, START_PATH } from '../../workspace/link-addresses.ts';
import type { Asker } from '../../workspace/link-requests.ts';
import { cookieLine, cookiesOf } from '../cookies.ts';
import { type Routes, sendText } from '../receivers/http-server.ts';

/** Tells a person by direct message that they are linked; a job, so that Slack's pace holds up no browser. */
export const TELL_LINKED = 'tell-linked';

/** Both ends of the way through the browser; none where linking is not configured. */
export function linkRoutes(deckhand: Deckhand): Routes {
  const { oauth } = deckhand.service;
  const { PUBLIC_URL } = deckhand.config;
  if (oauth === undefined || PUBLIC_URL === undefined) return {};
  const callback = callbackAddress(PUBLIC_URL);
  return {
    [`GET ${START_PATH}`]: (_, response, url) =>
      ending(deckhand, response, () => start(deckhand, oauth, callback, url, response)),
    [`GET ${CALLBACK_PATH}`]: (request, response, url) =>
      ending(deckhand, response, () => arrive(deckhand, oauth, callback, url, request, response)),
  };
}

export async function tellLinked(deckhand: Deckhand, workspace: string, user: string): Promise<void> {
  await deckhand.slack.sendDirectMessage(workspace, user, linkedMessage(deckhand.config.SLACK_COMMAND));
}

/** Binds this browser by a cookie and sends it on to the service. */
async function start(
  deckhand: Deckhand,
  oauth: ServiceOauth,
  callback: string,
  url: URL,
  response: ServerResponse,
): Promise<LinkEnd | undefined> {
  const ticket = url.searchParams.get('ticket') ?? '';
  const asker = await deckhand.linkRequests.open(ticket);
  if (typeof asker === 'string') return asker;
  const departure = deckhand.linkRequests.depart();
  const { url: target, verifier } = await oauth.begin(callback, departure.state);
  await deckhand.linkRequests.keep(ticket, asker, departure, verifier);
  response.setHeader('set-cookie', cookieLine(departure.cookie, new URL(callback)));
  response.writeHead(302, { location: target.href }).end();
  return undefined;
}

async function arrive(
  deckhand: Deckhand,
  oauth: ServiceOauth,
  callback: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<LinkEnd | undefined> {
  const state = url.searchParams.get('state') ?? '';
  const arrived = await deckhand.linkRequests.arrive({ state, cookies: cookiesOf(request) });
  if (typeof arrived === 'string') return arrived;
  const { asker, verifier } = arrived;
  const address = new URL(callback);
  address.search = url.search;
  const tokens = await oauth.exchange(address, { state, verifier });
  const { workspace, user } = asker;
  await deckhand.links.keep(workspace, user, tokens);
  await deckhand.audit.record(workspace, { who: user, what: 'link', result: 'done' });
  await deckhand.engine.send(TELL_LINKED, { workspace, user });
  sendDone(deckhand, asker, response);
  return undefined;
}

function sendDone(deckhand: Deckhand, { name }: Asker, response: ServerResponse): void {
  const page = linkedPage(name, deckhand.config.SLACK_COMMAND);
  sendText(response, 200, pageOf(page), 'text/html');
}

/** Every way it can fail has its page, and none shows what the service or the address said. */
async function ending(
  deckhand: Deckhand,
  response: ServerResponse,
  work: () => Promise<LinkEnd | undefined>,
): Promise<void> {
  const end = await work().catch((error: unknown) => {
    if (!(error instanceof OauthError)) throw error;
    deckhand.log.warn({ event: 'link_failed', kind: error.kind, reason: error.message }, 'nobody was linked');
    return error.kind;
  });
  if (end === undefined) return;
  const page = linkFailedPage(end, deckhand.config.SLACK_COMMAND);
  sendText(response, page.status, pageOf(page), 'text/html');
}
