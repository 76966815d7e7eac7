import { RESERVED } from '../address.ts';
import { addAccount, addUser } from './accounts.ts';
import { checkPassword, findIdentity, isLocked, setIdentity } from './identities.ts';
import { NewUser } from './inputs.ts';
import { sendVerification } from './mail.ts';
import type { Account, User, World } from './records.ts';
import { type SignupCondition, signupText } from './signup-wordings.ts';
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

function refuse(
  world: World,
  status: number,
  condition: SignupCondition,
  retryAfter?: number,
): SignupRefused {
  return new SignupRefused(status, [signupText(world.signupWordings, condition)], retryAfter);
}

/** Creates an account, or throws `SignupRefused` with one of the conditions of spec 7.2. */
export function signUp(world: World, ip: string, request: SignupRequest): { account: Account; user: User } {
  countAttempt(world, ip);
  if (!world.billingAvailable) throw refuse(world, 503, 'billing', 120);
  const { email, password } = readCredentials(world, request);
  refuseBlocked(world, ip, email, request);
  const identity = findIdentity(world, email);
  if (identity !== undefined) checkIdentity(world, identity, password);
  refuseInvalid(world, request, identity === undefined ? password : undefined);
  const name = pickName(world, email, request.account_name);
  if (identity === undefined) setIdentity(world, email, password);
  return create(world, name, email, request);
}

function countAttempt(world: World, ip: string): void {
  const now = world.clock.now();
  const recent = (world.signupAttempts.get(ip) ?? []).filter((at) => at > now - HOUR);
  if (recent.length >= ATTEMPTS_PER_HOUR) {
    const wait = Math.ceil(((recent[0] ?? now) + HOUR - now) / 1000);
    throw refuse(world, 429, 'too_many', wait);
  }
  world.signupAttempts.set(ip, [...recent, now]);
}

function readCredentials(
  world: World,
  { email, password }: SignupRequest,
): { email: string; password: string } {
  const wrong: SignupCondition[] = [];
  if (typeof email !== 'string' || !E_MAIL.test(email)) wrong.push('email');
  if (typeof password !== 'string' || password === '') wrong.push('password');
  refuseAll(world, 400, wrong);
  return { email: String(email), password: String(password) };
}

function refuseAll(world: World, status: number, wrong: SignupCondition[]): void {
  if (wrong.length === 0) return;
  const texts = wrong.map((condition) => signupText(world.signupWordings, condition));
  throw new SignupRefused(status, texts);
}

function refuseBlocked(world: World, ip: string, email: string, request: SignupRequest): void {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const isSuspicious = /https?:|<|>/.test(`${request.account_name ?? ''} ${request.full_name ?? ''}`);
  if (world.bannedIps.has(ip) || DISPOSABLE.has(domain) || isSuspicious) {
    throw refuse(world, 403, 'blocked');
  }
}

function checkIdentity(world: World, identity: Identity, password: string): void {
  if (isLocked(world, identity)) throw refuse(world, 403, 'locked');
  if (!checkPassword(world, identity, password)) throw refuse(world, 401, 'wrong_password');
  if (identity.twoFactor) throw refuse(world, 422, 'two_factor');
  const isUser = [...world.accounts.values()].some(({ users }) =>
    users.some(({ email }) => email.toLowerCase() === identity.email.toLowerCase()),
  );
  if (isUser) throw refuse(world, 409, 'email_taken');
}

/** @param password only where it is a new one */
function refuseInvalid(world: World, request: SignupRequest, password: string | undefined): void {
  const wrong: SignupCondition[] = [];
  if (password !== undefined && password.length < SHORTEST_PASSWORD) wrong.push('short_password');
  if (request.terms_accepted !== true) wrong.push('terms');
  if (!isPackage(request.package ?? 'pro')) wrong.push('package');
  refuseAll(world, 422, wrong);
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
    throw refuse(world, 409, 'name_taken');
  }
  const slug = slugify(displayName).slice(0, 60);
  const candidates = Array.from({ length: VARIATIONS }, (_, n) => (n === 0 ? slug : `${slug}-${n + 1}`));
  const subdomain = candidates.find(
    (name) => name !== '' && !world.accounts.has(name) && !RESERVED.has(name),
  );
  if (slug === '' || subdomain === undefined) {
    throw refuse(world, 409, 'name_unavailable');
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
