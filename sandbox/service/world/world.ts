import type { SandboxClock } from '../clock.ts';
import type { World } from './records.ts';
import type { Mail, OauthClient } from './site-records.ts';

export interface WorldOptions {
  clock: SandboxClock;
  origin: string;
  authOrigin: string;
  oauthIss: boolean;
  oauthEmail: boolean;
  sitesDomain: string;
  clients: readonly OauthClient[];
  onMail: ((mail: Mail) => void) | undefined;
}

/** A world without accounts. */
export function createWorld({ clients, ...options }: WorldOptions): World {
  return {
    ...options,
    accounts: new Map(),
    identities: new Map(),
    outbox: [],
    verifications: new Map(),
    signupAttempts: new Map(),
    bannedIps: new Set(),
    billingAvailable: true,
    signupWordings: new Map(),
    clients: new Map(clients.map((client) => [client.id, client])),
    codes: new Map(),
    grants: [],
    handOvers: new Map(),
    notifications: [],
    description: 'published',
  };
}

/** Empties the world and its planned work; registered OAuth clients, how OAuth answers and the mail listener stay. */
export function clearWorld(world: World): void {
  world.clock.clear();
  world.accounts.clear();
  world.identities.clear();
  world.outbox.length = 0;
  world.verifications.clear();
  world.signupAttempts.clear();
  world.bannedIps.clear();
  world.billingAvailable = true;
  world.signupWordings.clear();
  world.codes.clear();
  world.grants.length = 0;
  world.handOvers.clear();
  world.notifications.length = 0;
  world.description = 'published';
}
