import { addAccount } from '../world/accounts.ts';
import { addCommits } from '../world/commits.ts';
import { getProject, getServer } from '../world/find.ts';
import { addHostedResource } from '../world/hosting.ts';
import { createId } from '../world/ids.ts';
import { addInvoice } from '../world/invoices.ts';
import type { Account, World } from '../world/records.ts';
import { DEMO_IDS, DEMO_USERS } from './demo-facts.ts';
import { addHistory } from './demo-history.ts';
import { ACME_PROJECTS, GLOBEX_PROJECTS } from './demo-projects.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A small company to try everything on, and a second one that differs where it matters. */
export function seedDemo(world: World): void {
  const acme = addAccount(world, {
    name: 'acme',
    displayName: 'Acme',
    package: 'business',
    currency: 'eur',
    zone: 'Europe/Lisbon',
    workers: 4,
    managedServerLimit: 5,
    users: usersOf('acme'),
    projects: ACME_PROJECTS,
  });
  addHosting(world, acme);
  addHistory(world, acme);
  addWaiting(world, acme);
  addInvoices(world, acme, '118.80', '19.80');
  const globex = addAccount(world, {
    name: 'globex',
    displayName: 'Globex',
    currency: 'gbp',
    zone: 'America/New_York',
    betaFeatures: false,
    workers: 2,
    users: usersOf('globex'),
    projects: GLOBEX_PROJECTS,
  });
  addHistory(world, globex);
  addInvoices(world, globex, '39.00', '6.50');
}

function usersOf(name: string) {
  return Object.values(DEMO_USERS)
    .filter(({ account }) => account === name)
    .map(({ account: _, ...user }) => user);
}

/** One healthy machine, and one that a sync would find to be well again. */
function addHosting(world: World, acme: Account): void {
  const createdAt = world.clock.now() - 40 * DAY;
  const reports = addHostedResource(world, acme, {
    identifier: DEMO_IDS.reportsMachine,
    name: 'reports',
    size: 'medium',
    createdAt,
  });
  const staging = addHostedResource(world, acme, {
    identifier: DEMO_IDS.stagingMachine,
    name: 'staging',
    region: 'lon1',
    status: 'error',
    createdAt,
  });
  staging.provider.status = 'active';
  getServer(getProject(acme, 'billing-api'), 'reports').hostedResource = reports.identifier;
  getServer(getProject(acme, 'docs-site'), 'docs').website = {
    identifier: createId(),
    subdomain: 'acme-docs',
    spaMode: false,
    status: 'active',
    activeDeployment: null,
  };
}

/** Commits of the last days that nobody has deployed yet. */
function addWaiting(world: World, acme: Account): void {
  const now = world.clock.now();
  addCommits(acme, getProject(acme, 'storefront'), { count: 12, now, everyMs: 9 * HOUR });
  addCommits(acme, getProject(acme, 'docs-site'), { count: 1, now });
}

/** Four months; the latest has been waiting for its money for more than a week. */
function addInvoices(world: World, account: Account, total: string, vat: string): void {
  for (const monthsAgo of [3, 2, 1, 0]) {
    const createdAt = world.clock.now() - (8 + 30 * monthsAgo) * DAY;
    addInvoice(world, account, {
      total,
      vat,
      createdAt,
      paidAt: monthsAgo === 0 ? null : createdAt + 3 * DAY,
    });
  }
}
