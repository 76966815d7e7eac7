import { createHash } from 'node:crypto';
import { createToken } from './ids.ts';
import type { User, World } from './records.ts';
import type { AuthorisationCode, Grant, OauthClient } from './site-records.ts';

/** Spec 5.3. */
export const SCOPES = ['email_address', 'assignments'];

const CODE_MS = 60_000;

/** An error as RFC 6749 names it. */
export class OauthError extends Error {
  readonly code: string;
  readonly status: 400 | 401;

  constructor(code: string, description: string, status: 400 | 401 = 400) {
    super(description);
    this.name = 'OauthError';
    this.code = code;
    this.status = status;
  }
}

/** People who can consent: those who could sign in. */
export function listPeople({ accounts }: World): User[] {
  return [...accounts.values()].flatMap(({ users }) => users).filter(({ verified }) => verified);
}

/** A code for one exchange within a minute. */
export function issueCode(world: World, consent: Omit<AuthorisationCode, 'expiresAt' | 'usedFor'>): string {
  const code = createToken();
  world.codes.set(code, { ...consent, expiresAt: world.clock.now() + CODE_MS, usedFor: undefined });
  return code;
}

export interface Exchange {
  client: OauthClient;
  code: string;
  redirectUri: string;
  verifier: string | undefined;
}

/** Exchanges a code for a grant; throws `invalid_grant`. A code used twice takes its grant back. */
export function exchangeCode(world: World, { client, code, redirectUri, verifier }: Exchange): Grant {
  const issued = world.codes.get(code);
  if (issued === undefined || issued.client !== client.id) {
    throw new OauthError('invalid_grant', 'The code is unknown.');
  }
  if (issued.usedFor !== undefined) {
    revokeToken(world, issued.usedFor);
    throw new OauthError('invalid_grant', 'The code was used before.');
  }
  if (issued.expiresAt <= world.clock.now()) throw new OauthError('invalid_grant', 'The code has expired.');
  if (issued.redirectUri !== redirectUri) {
    throw new OauthError('invalid_grant', 'The redirect_uri is not the one the code was issued for.');
  }
  if (!isProven(issued.challenge, verifier)) {
    throw new OauthError('invalid_grant', 'The code_verifier does not fit.');
  }
  const grant = createGrant(world, client, issued);
  issued.usedFor = grant.accessToken;
  return grant;
}

/** PKCE with S256. A verifier without a challenge is refused too: someone may have stripped the challenge. */
function isProven(challenge: string | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === verifier;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

function createGrant(world: World, client: OauthClient, { email, scopes }: AuthorisationCode): Grant {
  const grant = {
    client: client.id,
    email,
    scopes,
    accessToken: createToken(),
    createdAt: world.clock.now(),
    revoked: false,
  };
  world.grants.push(grant);
  return grant;
}

function revokeToken({ grants }: World, accessToken: string): void {
  for (const grant of grants) if (grant.accessToken === accessToken) grant.revoked = true;
}
