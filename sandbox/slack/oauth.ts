import { z } from 'zod';
import { secretHex } from './state/ids.ts';
import { personOf, workspaceOf } from './state/workspaces.ts';
import type { World } from './world.ts';

/** What an app asks for on the authorize page. */
const Ask = z.object({
  client_id: z.string(),
  scope: z.string().default(''),
  redirect_uri: z.string().optional(),
  state: z.string().default(''),
  team: z.string().optional(),
});

export type InstallAsk = z.infer<typeof Ask>;

/** Reads the authorize page's query; a text says why Slack shows a fault instead of the page. */
export function readInstallAsk(world: World, query: Record<string, string>): InstallAsk | string {
  const parsed = Ask.safeParse(query);
  if (!parsed.success || parsed.data.client_id !== world.app.clientId) return 'invalid_client_id';
  const { scope, redirect_uri } = parsed.data;
  if (scope === '') return 'no_scopes';
  if (redirect_uri !== undefined && !isRegistered(world, redirect_uri)) return 'bad_redirect_uri';
  if (redirect_uri === undefined && world.app.redirectUrls?.[0] === undefined) return 'bad_redirect_uri';
  return parsed.data;
}

/** A registered address, or one below it, is good; with none registered any is taken. */
function isRegistered(world: World, address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, pathname } = new URL(address);
  return (
    world.app.redirectUrls?.some((url) => {
      const known = new URL(url);
      const below = known.pathname.endsWith('/') ? known.pathname : `${known.pathname}/`;
      return origin === known.origin && (pathname === known.pathname || pathname.startsWith(below));
    }) ?? true
  );
}

export interface Decision {
  teamId: string;
  userId: string;
  allow: boolean;
  orgWide?: boolean;
}

/** Where the browser goes after a person has decided: back to the app, with a code or with `access_denied`. */
export function decideInstall(world: World, ask: InstallAsk, decision: Decision): string {
  const back = new URL(ask.redirect_uri ?? world.app.redirectUrls?.[0] ?? world.origin);
  if (decision.allow) back.searchParams.set('code', issueCode(world, ask, decision));
  else back.searchParams.set('error', 'access_denied');
  back.searchParams.set('state', ask.state);
  return back.href;
}

function issueCode(world: World, ask: InstallAsk, { teamId, userId, orgWide = false }: Decision): string {
  const workspace = workspaceOf(world, teamId);
  const person = personOf(workspace, userId);
  if (orgWide && !(world.app.orgDeploy && workspace.enterprise)) {
    throw new RangeError(`the app cannot be installed for the organisation of ${teamId}`);
  }
  const code = secretHex(24);
  world.codes.set(code, {
    code,
    clientId: ask.client_id,
    redirectUri: ask.redirect_uri,
    scopes: ask.scope.split(/[ ,]+/).filter(Boolean),
    teamId: workspace.id,
    userId: person.id,
    orgWide,
    issuedAt: world.time.now(),
    used: false,
  });
  return code;
}
