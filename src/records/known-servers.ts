import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** A server in records, buttons and forms. */
export const ServerRef = z.object({ identifier: z.string(), name: z.string() });
export interface ServerRef extends z.infer<typeof ServerRef> {}

export const KnownServers = z.object({ servers: z.array(ServerRef) });

/** Larger than any project. The oldest entries are dropped first. */
const MAX_SERVERS = 200;
const MAX_NAME = 200;

function knownServers(store: WorkspaceStore): Collection<z.infer<typeof KnownServers>> {
  return store.collection('known-servers', KnownServers);
}

/** Servers that Deckhand created or showed. Used if the service does not list a project's servers. */
export async function listKnownServers(
  store: WorkspaceStore,
  account: string,
  project: ProjectRef,
): Promise<ServerRef[]> {
  return (await knownServers(store).get(idFor(account, project)))?.servers ?? [];
}

export async function rememberServers(
  store: WorkspaceStore,
  account: string,
  project: ProjectRef,
  servers: readonly ServerRef[],
): Promise<void> {
  if (servers.length === 0) return;
  await knownServers(store).update(idFor(account, project), (current) => ({
    servers: mergeServers(current?.servers ?? [], servers),
  }));
}

/** Merges lists. Each server appears once, by its latest name, with the latest at the end. */
export function mergeServers(older: readonly ServerRef[], newer: readonly ServerRef[]): ServerRef[] {
  const all = new Map<string, ServerRef>();
  for (const { identifier, name } of [...older, ...newer]) {
    all.delete(identifier);
    all.set(identifier, { identifier, name: name.slice(0, MAX_NAME) });
  }
  return [...all.values()].slice(-MAX_SERVERS);
}

function idFor(account: string, project: ProjectRef): string {
  return hashJson([account, projectId(project)]).slice(0, 24);
}

export const Protocol = z.enum(['static_hosting', 'managed_vps']);
export type Protocol = z.infer<typeof Protocol>;

/** A server to create, with the service's field names. */
export const RequestedServer = z.discriminatedUnion('protocol_type', [
  z.object({
    protocol_type: z.literal('static_hosting'),
    name: z.string(),
    subdomain: z.string(),
    spa_mode: z.boolean(),
  }),
  z.object({
    protocol_type: z.literal('managed_vps'),
    name: z.string(),
    region: z.string(),
    size: z.string(),
  }),
]);
export type RequestedServer = z.infer<typeof RequestedServer>;

/** State of the modal, from the form to the confirmation. */
export const Draft = z.object({
  channel: z.string(),
  thread: z.string().optional(),
  account: z.string(),
  /** Undefined until a person chooses it in the form. */
  project: ProjectRef.optional(),
  /** The form shows the fields of this protocol. */
  protocol: Protocol,
  requested: RequestedServer.optional(),
  cost: z.string().optional(),
  names: z.object({ region: z.string(), size: z.string() }).optional(),
  /** Identifies this confirmation, so that it creates one server. */
  order: z.string().optional(),
});
export interface Draft extends z.infer<typeof Draft> {}
