import type { World } from './records.ts';
import type { Identity } from './site-records.ts';

const MAX_FAILURES = 5;
const LOCK_MS = 15 * 60_000;

export function findIdentity(world: World, email: string): Identity | undefined {
  return world.identities.get(email.toLowerCase());
}

/** Makes the identity service know a person; replaces what it knew. */
export function setIdentity(world: World, email: string, password: string, twoFactor = false): Identity {
  const identity = { email, password, twoFactor, failedAttempts: 0, lockedUntil: 0 };
  world.identities.set(email.toLowerCase(), identity);
  return identity;
}

export function isLocked(world: World, identity: Identity): boolean {
  return identity.lockedUntil > world.clock.now();
}

/** Compares a password; too many wrong ones lock the identity for a quarter of an hour. */
export function checkPassword(world: World, identity: Identity, password: string): boolean {
  if (identity.password === password) {
    identity.failedAttempts = 0;
    return true;
  }
  identity.failedAttempts += 1;
  if (identity.failedAttempts < MAX_FAILURES) return false;
  identity.failedAttempts = 0;
  identity.lockedUntil = world.clock.now() + LOCK_MS;
  return false;
}
