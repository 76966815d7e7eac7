import { stableId } from '../world/ids.ts';

/** A key of the right length that cannot be taken for a real one; it opens nothing but this sandbox. */
function demoKey(name: string): string {
  return `demo-key-of-${name}-`.padEnd(40, '0');
}

/** The people of the demo, by what they may do. */
export const DEMO_USERS = {
  admin: {
    account: 'acme',
    email: 'ada@acme.example.com',
    apiKey: demoKey('ada'),
    firstName: 'Ada',
    lastName: 'Winter',
    role: 'admin',
    billing: true,
  },
  member: {
    account: 'acme',
    email: 'ben@acme.example.com',
    apiKey: demoKey('ben'),
    firstName: 'Ben',
    lastName: 'Sommer',
    role: 'member',
    billing: false,
  },
  billing: {
    account: 'acme',
    email: 'cleo@acme.example.com',
    apiKey: demoKey('cleo'),
    firstName: 'Cleo',
    lastName: 'March',
    role: 'member',
    billing: true,
  },
  globexAdmin: {
    account: 'globex',
    email: 'gus@globex.example.com',
    apiKey: demoKey('gus'),
    firstName: 'Gus',
    lastName: 'Holm',
    role: 'admin',
    billing: true,
  },
  globexMember: {
    account: 'globex',
    email: 'hana@globex.example.com',
    apiKey: demoKey('hana'),
    firstName: 'Hana',
    lastName: 'Berg',
    role: 'member',
    billing: false,
  },
} as const;

/** Identifiers that commands ask for; the same after every start. */
export const DEMO_IDS = {
  storefrontBuild: stableId('demo', 'build configuration', 'storefront'),
  billingBuild: stableId('demo', 'build configuration', 'billing-api'),
  storefrontChat: stableId('demo', 'integration', 'storefront', 'chat'),
  storefrontErrors: stableId('demo', 'integration', 'storefront', 'errors'),
  billingHook: stableId('demo', 'integration', 'billing-api', 'hook'),
  reportsMachine: stableId('demo', 'hosted resource', 'reports'),
  stagingMachine: stableId('demo', 'hosted resource', 'staging'),
} as const;

/** The OAuth client that the demo's Deckhand is registered as; the redirect addresses are the caller's. */
export function demoOauthClient(redirectUris: string[]) {
  return { id: 'deckhand-demo', secret: 'demo-client-secret', name: 'Deckhand (demo)', redirectUris };
}
