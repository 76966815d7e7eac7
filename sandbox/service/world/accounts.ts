import type { z } from 'zod';
import { recordDeployment, recordEvent } from './deployments.ts';
import { getAccount } from './find.ts';
import { addHostedResource } from './hosting.ts';
import { findIdentity, setIdentity } from './identities.ts';
import { createApiKey, createSshKey, createToken, stableId } from './ids.ts';
import { NewAccount, type NewUser } from './inputs.ts';
import { addInvoice } from './invoices.ts';
import { addProject } from './projects.ts';
import type { Account, User, World } from './records.ts';

/** Adds an account with everything in it. Throws when the name is taken. */
export function addAccount(world: World, input: z.input<typeof NewAccount>): Account {
  const given = NewAccount.parse(input);
  if (world.accounts.has(given.name)) throw new Error(`the account "${given.name}" exists already`);
  const account = emptyAccount(given);
  world.accounts.set(account.name, account);
  for (const user of given.users) addUser(world, account, user);
  for (const project of given.projects) addProject(world, account, project);
  for (const resource of given.hostedResources) addHostedResource(world, account, resource);
  for (const deployment of given.deployments) recordDeployment(world, account, deployment);
  for (const event of given.events) recordEvent(world, account, event);
  for (const invoice of given.invoices) addInvoice(world, account, invoice);
  return account;
}

function emptyAccount(given: z.output<typeof NewAccount>): Account {
  return {
    identifier: stableId('account', given.name),
    name: given.name,
    displayName: given.displayName ?? given.name,
    package: given.package,
    apiAccess: given.apiAccess,
    currency: given.currency,
    zone: given.zone,
    suspended: given.suspended,
    betaFeatures: given.betaFeatures,
    sshKey: createSshKey(`deploy@${given.name}`),
    workers: given.workers,
    waitingRuns: [],
    busyWorkers: 0,
    managedServerLimit: given.managedServerLimit,
    provisioningLimit: given.provisioningLimit,
    provisionedAt: [],
    integrationRules: given.integrationRules,
    provisioning: {
      static_hosting: { status: 'active', durationMs: 4_000 },
      managed_vps: { status: 'active', durationMs: 15_000 },
    },
    users: [],
    projects: [],
    hostedResources: [],
    deployments: [],
    events: [],
    invoices: [],
  };
}

/** Adds a user; the identity service knows them too, by a random password. */
export function addUser(world: World, account: Account, given: z.output<typeof NewUser>): User {
  const user = { ...given, apiKey: given.apiKey ?? createApiKey(), projects: given.projects };
  account.users.push(user);
  if (findIdentity(world, user.email) === undefined) setIdentity(world, user.email, createToken());
  return user;
}

/** Suspends an account: its API answers 403 and its managed servers are powered off. Spec 3.1. */
export function suspendAccount(world: World, name: string): Account {
  const account = getAccount(world, name);
  account.suspended = true;
  changeManaged(account, 'active', 'suspended');
  return account;
}

/** Takes a suspension back; what was powered off runs again. */
export function resumeAccount(world: World, name: string): Account {
  const account = getAccount(world, name);
  account.suspended = false;
  changeManaged(account, 'suspended', 'active');
  return account;
}

function changeManaged(account: Account, from: 'active' | 'suspended', to: 'active' | 'suspended'): void {
  for (const resource of account.hostedResources) {
    if (resource.status === from) resource.status = to;
    if (resource.provider.status === from) resource.provider.status = to;
  }
  for (const { website } of account.projects.flatMap((project) => project.servers)) {
    if (website?.status === from) website.status = to;
  }
}
