import type { Project, Server } from './project-records.ts';
import type { Account, HostedResource, User, World } from './records.ts';

/** What a lookup for a test or the demo throws; the API answers its own 404 instead. */
export class NotInWorld extends Error {
  constructor(what: string, name: string) {
    super(`the simulated service has no ${what} "${name}"`);
    this.name = 'NotInWorld';
  }
}

export function found<T>(value: T | undefined, what: string, name: string): T {
  if (value === undefined) throw new NotInWorld(what, name);
  return value;
}

export function getAccount(world: World, name: string): Account {
  return found(world.accounts.get(name), 'account', name);
}

/** By permalink or identifier. Spec 1. */
export function findProject(account: Account, reference: string): Project | undefined {
  return account.projects.find(
    (project) => project.permalink === reference || project.identifier === reference,
  );
}

export function getProject(account: Account, reference: string): Project {
  return found(findProject(account, reference), 'project', reference);
}

export function findServer(project: Project, identifier: string): Server | undefined {
  return project.servers.find((server) => server.identifier === identifier);
}

/** By identifier or, for tests, by name. */
export function getServer(project: Project, reference: string): Server {
  const named = project.servers.find(({ name }) => name === reference);
  return found(findServer(project, reference) ?? named, 'server', reference);
}

export function findHostedResource(account: Account, identifier: string): HostedResource | undefined {
  return account.hostedResources.find((resource) => resource.identifier === identifier);
}

export function findUser(account: Account, email: string): User | undefined {
  return account.users.find((user) => user.email.toLowerCase() === email.toLowerCase());
}

export function getUser(account: Account, email: string): User {
  return found(findUser(account, email), 'user', email);
}
