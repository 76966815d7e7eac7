import { RESERVED } from '../address.ts';
import { addAccount, addUser } from './accounts.ts';
import { checkPassword, findIdentity, isLocked, setIdentity } from './identities.ts';
import { NewUser } from './inputs.ts';
import { sendVerification } from './mail.ts';
import type { Account, User, World } from './records.ts';
import type { Identity } from './site-records.ts';
import { slugify } from './slugs.ts';

const HOUR = 3_600_000;
/** Spec 8. */
const ATTEMPTS_PER_HOUR = 3;
const SHORTEST_PASSWORD = 8;
/** How many subdomains are tried for a name: the name itself, then `-2` and so on. */
const VARIATIONS = 10;
const PACKAGES = ['pro', 'business', 'enterprise'] as const;
/** Domains of throw-away mailboxes. */
const DISPOSABLE = new Set(['disposable.example', 'throwaway.example']);
const E_MAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** The body as it came; nothing in it is sure but that it is an object. Spec 2.1. */
export type SignupRequest = Record<string, unknown>;

export class SignupRefused extends Error {
  readonly status: number;
  readonly errors: string[];
  /** Seconds after which another attempt makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, errors: string[], retryAfter?: number) {
    super(errors.join(' '));
    this.name = 'SignupRefused';
    this.status = status;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }
}

/** Creates an account, or throws `SignupRefused` with one of the conditions of spec 7.2. */
export function signUp(world: World, ip: string, request: SignupRequest): { account: Account; user: User } {
  countAttempt(world, ip);
  if (!world.billingAvailable) {
    throw new SignupRefused(503, ['Billing is unavailable for the moment; try again later.'], 120);
  }
  const { email, password } = readCredentials(request);
  refuseBlocked(world, ip, email, request);
  const identity = findIdentity(world, email);
  if (identity !== undefined) checkIdentity(world, identity, password);
  refuseInvalid(request, identity === undefined ? password : undefined);
  const name = pickName(world, email, request.account_name);
  if (identity === undefined) setIdentity(world, email, password);
  return create(world, name, email, request);
}

function countAttempt(world: World, ip: string): void {
  const now = world.clock.now();
  const recent = (world.signupAttempts.get(ip) ?? []).filter((at) => at > now - HOUR);
  if (recent.length >= ATTEMPTS_PER_HOUR) {
    const wait = Math.ceil(((recent[0] ?? now) + HOUR - now) / 1000);
    throw new SignupRefused(429, ['Too many attempts to sign up; try again later.'], wait);
  }
  world.signupAttempts.set(ip, [...recent, now]);
}

function readCredentials({ email, password }: SignupRequest): { email: string; password: string } {
  const errors: string[] = [];
  if (typeof email !== 'string' || !E_MAIL.test(email))
    errors.push('The e-mail address is missing or invalid.');
  if (typeof password !== 'string' || password === '') errors.push('The password is missing or invalid.');
  if (errors.length > 0) throw new SignupRefused(400, errors);
  return { email: String(email).trim(), password: String(password) };
}

function refuseBlocked(world: World, ip: string, email: string, request: SignupRequest): void {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const isSuspicious = /https?:|<|>/.test(`${request.account_name ?? ''} ${request.full_name ?? ''}`);
  if (world.bannedIps.has(ip) || DISPOSABLE.has(domain) || isSuspicious) {
    throw new SignupRefused(403, ['The request was blocked.']);
  }
}

function checkIdentity(world: World, identity: Identity, password: string): void {
  if (isLocked(world, identity)) {
    throw new SignupRefused(403, ['Too many failed attempts; this person is locked for now.']);
  }
  if (!checkPassword(world, identity, password)) {
    throw new SignupRefused(401, ['This e-mail address is known already, and the password is not right.']);
  }
  if (identity.twoFactor) {
    throw new SignupRefused(422, ['Two-factor authentication is on; please sign up on the web.']);
  }
  const isUser = [...world.accounts.values()].some(({ users }) =>
    users.some(({ email }) => email.toLowerCase() === identity.email.toLowerCase()),
  );
  if (isUser) throw new SignupRefused(409, ['This e-mail address is already in use.']);
}

/** @param password only where it is a new one */
function refuseInvalid(request: SignupRequest, password: string | undefined): void {
  const errors: string[] = [];
  if (password !== undefined && password.length < SHORTEST_PASSWORD) {
    errors.push(`The password is too short; it needs ${SHORTEST_PASSWORD} characters.`);
  }
  if (request.terms_accepted !== true) errors.push('The terms have to be accepted.');
  if (!isPackage(request.package ?? 'pro')) errors.push('There is no such package.');
  if (errors.length > 0) throw new SignupRefused(422, errors);
}

function isPackage(value: unknown): value is (typeof PACKAGES)[number] {
  return PACKAGES.some((name) => name === value);
}

/** A free subdomain: an account's exact name is never given twice, its slug is varied. */
function pickName(world: World, email: string, wanted: unknown) {
  const given = typeof wanted === 'string' && wanted.trim() !== '' ? wanted.trim() : undefined;
  const displayName = given ?? slugify(email);
  const accounts = [...world.accounts.values()];
  if (given !== undefined && accounts.some((account) => account.displayName === given)) {
    throw new SignupRefused(409, ['This account name is already in use.']);
  }
  const slug = slugify(displayName).slice(0, 60);
  const candidates = Array.from({ length: VARIATIONS }, (_, n) => (n === 0 ? slug : `${slug}-${n + 1}`));
  const subdomain = candidates.find(
    (name) => name !== '' && !world.accounts.has(name) && !RESERVED.has(name),
  );
  if (slug === '' || subdomain === undefined) {
    throw new SignupRefused(409, ['This account name is unavailable, in all its variations.']);
  }
  return { subdomain, displayName };
}

function create(
  world: World,
  { subdomain, displayName }: { subdomain: string; displayName: string },
  email: string,
  request: SignupRequest,
): { account: Account; user: User } {
  const account = addAccount(world, {
    name: subdomain,
    displayName,
    package: isPackage(request.package) ? request.package : 'pro',
    betaFeatures: false,
  });
  const fullName = typeof request.full_name === 'string' ? request.full_name : `${displayName} Admin`;
  const [firstName = '', ...rest] = fullName.split(' ');
  const person = {
    email,
    firstName,
    lastName: rest.join(' '),
    role: 'admin',
    billing: true,
    verified: false,
  };
  const user = addUser(world, account, NewUser.parse(person));
  sendVerification(world, account.name, email);
  return { account, user };
}
