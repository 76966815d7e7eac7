import type { Hono } from 'hono';
import { auth as readBasicAuth } from 'hono/utils/basic-auth';
import { createAccountApp } from './api/app.ts';
import { pageOf } from './api/paging.ts';
import { createSiteApp } from './api/site.ts';
import { type ControlParts, createControlApp } from './control.ts';
import { addReference } from './docs/reference.ts';
import type { Visit } from './front-door.ts';
import { betaPage, unknownHostPage } from './pages/home.ts';
import { accountRoutes, siteRoutes } from './routes/index.ts';
import { findUser } from './world/find.ts';
import type { Account } from './world/records.ts';

type Dispatch = (visit: Visit) => Promise<Response>;

/** The pages and the endpoint that may stand on an origin of their own. */
const AUTH_PATHS = new Set(['/oauth/authorize', '/oauth/token']);

/** One of each for all services of a process: a request brings the world that it asks about. */
const site = createSiteApp(siteRoutes);
const accounts = createAccountApp(accountRoutes);
addReference(site, accounts);

/** Sends a request to the account's host, the service's own, or the control. */
export function createDispatch(parts: ControlParts): { main: Dispatch; auth: Dispatch } {
  const { world, weather } = parts;
  let control: Hono | undefined;

  async function askSite({ address, request, ip }: Visit): Promise<Response> {
    const answer = await site.fetch(request, { world, ip });
    const isSignup = address.path === '/api/v1/signup';
    return isSignup ? weather.change({ method: request.method, path: address.path }, answer) : answer;
  }

  async function main(visit: Visit): Promise<Response> {
    const { address, request } = visit;
    if (address.path.startsWith('/_control/')) {
      control ??= createControlApp(parts);
      return control.fetch(request);
    }
    if (address.account === undefined) {
      const isElsewhere = AUTH_PATHS.has(address.path) && world.authOrigin !== world.origin;
      return isElsewhere ? htmlResponse(unknownHostPage(), 404) : askSite(visit);
    }
    const account = world.accounts.get(address.account);
    if (account === undefined) return htmlResponse(unknownHostPage(), 404);
    if (address.path === '/beta_features') return htmlResponse(betaPage(account.displayName), 200);
    const whole = await accounts.fetch(request, { world, account, baseUrl: address.baseUrl });
    const answer = await pageOf(parts.paging(), request, address.path, whole);
    const question = {
      method: request.method,
      path: address.path,
      unverified: isUnverified(account, request),
    };
    return weather.change(question, answer);
  }

  async function auth(visit: Visit): Promise<Response> {
    const { account, path } = visit.address;
    const isHere = account === undefined && AUTH_PATHS.has(path);
    return isHere ? askSite(visit) : htmlResponse(unknownHostPage(), 404);
  }

  return { main, auth };
}

/** Whether the key is right and only the e-mail is not verified yet. */
function isUnverified(account: Account, request: Request): boolean {
  const credentials = readBasicAuth(request);
  const user = credentials && findUser(account, credentials.username);
  return user !== undefined && !user.verified && user.apiKey === credentials?.password;
}

async function htmlResponse(page: ReturnType<typeof betaPage>, status: number): Promise<Response> {
  return new Response(String(await page), {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}
