import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { OauthError, type ServiceOauth } from '../../service/oauth.ts';
import { type BrowserEnd, linkedPage, linkFailedPage } from '../../views/accounts/browser-pages.ts';
import { linkedMessage } from '../../views/accounts/link.ts';
import { defineJob } from '../../workspace/define-job.ts';
import {
  type Asker,
  CALLBACK_PATH,
  callbackAddress,
  type LinkRequests,
  START_PATH,
} from '../../workspace/link-requests.ts';
import type { Parts, Workspaces } from '../../workspace/workspace.ts';
import { cookieLine, cookiesOf } from '../cookies.ts';
import { sendPage } from '../pages.ts';
import type { Routes } from '../receivers/http-server.ts';

const Linked = z.object({ user: z.string() });

/** Confirms a link by direct message; a job, so that the browser does not wait for Slack. */
export const CONFIRM_LINK = defineJob({
  queue: 'tell-linked',
  schema: Linked,
  options: { concurrency: 10, attempts: 3, backoffMs: 10_000 },
  async run({ slack, config }, { data }) {
    await slack.sendDirectMessage(data.user, linkedMessage(config.SLACK_COMMAND));
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
      ending(parts, response, () => start(parts, oauth, callback, url, response)),
    [`GET ${CALLBACK_PATH}`]: (request, response, url) =>
      ending(parts, response, () => arrive(parts, oauth, callback, url, request, response)),
  };
}

/** Binds this browser by a cookie and sends it on to the service. */
async function start(
  parts: LinkParts,
  oauth: ServiceOauth,
  callback: string,
  url: URL,
  response: ServerResponse,
): Promise<BrowserEnd | undefined> {
  const ticket = url.searchParams.get('ticket') ?? '';
  const asker = await parts.linkRequests.open(ticket);
  if (typeof asker === 'string') return asker;
  const departure = parts.linkRequests.depart();
  const { url: target, verifier } = await oauth.begin(callback, departure.state);
  await parts.linkRequests.keep(ticket, asker, departure, verifier);
  response.setHeader('set-cookie', cookieLine(departure.cookie, new URL(callback)));
  response.writeHead(302, { location: target.href }).end();
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
  const arrived = await parts.linkRequests.arrive({ state, cookies: cookiesOf(request) });
  if (typeof arrived === 'string') return arrived;
  const { asker, verifier } = arrived;
  const address = new URL(callback);
  address.search = url.search;
  const tokens = await oauth.exchange(address, { state, verifier });
  const { user } = asker;
  const { links, audit, jobs } = parts.workspaces.open(asker.workspace);
  await links.keep(user, tokens);
  await audit.record({ who: user, what: 'link', result: 'done' });
  await jobs.send(CONFIRM_LINK, { user });
  sendDone(parts, asker, response);
  return undefined;
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
