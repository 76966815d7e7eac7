import { addAccount } from '../world/accounts.ts';
import type { World } from '../world/records.ts';
import { DEMO_USERS } from './demo-users.ts';

/** A small company to try everything on. */
export function seedDemo(world: World): void {
  addAccount(world, {
    name: 'acme',
    displayName: 'Acme',
    zone: 'Europe/Lisbon',
    currency: 'eur',
    workers: 4,
    users: [DEMO_USERS.admin],
    projects: [{ name: 'Storefront', starred: true, servers: [{ name: 'web-1' }] }],
  });
}
