import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Config, parseConfig, readVersion, TEMPORARY_EXIT_CODE } from '../config.ts';
import { MAY_PASS, ServiceError } from '../core/errors.ts';
import { isSameProject } from '../core/project-ref.ts';
import { createLog } from '../observability/log.ts';
import { openDeckhand } from '../open.ts';
import { Account, makeKeyField, SCHEDULES, selectKeys } from '../records/accounts.ts';
import { applyEntry } from '../scheduler/setup/schedule-entries.ts';
import type { SkippedRows } from '../service/call.ts';
import type { Service } from '../service/client.ts';
import { listProjects, type Project } from '../service/projects.ts';
import { SealError } from '../store/data-keys.ts';
import { createSealer, type WorkspaceSealer } from '../store/sealer.ts';
import type { Store } from '../store/store.ts';
import { SCHEDULE_FACES } from '../views/schedules/faces.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type Configuration, listWorkspaces, PLACED_SECTIONS, readConfiguration } from './configuration.ts';
import { findContentFaults, type Read, readConfigurations } from './configuration-file.ts';
import { dataError, fileFault, openService, type Program, ProgramError } from './program.ts';
import { type Fault, SECTIONS } from './sections.ts';
import { existingStore, withStore } from './stores.ts';

export const APPLY: Program = {
  command: 'deckhand apply',
  argument: 'Give the one file to read',
  options: { 'dry-run': { type: 'boolean' } },
  help: `Usage: deckhand apply <file> [--dry-run]

Changes the store of STORE_URL to what a file of deckhand export says, and prints each change. A section in the file replaces
the section in the store; a section that the file leaves out stays as it is. Paused schedules stay paused. If the file is wrong,
it prints every fault with its line, changes nothing and ends with 65. It reads the projects of connected accounts from the
service; if the service does not answer, it changes nothing and ends with 75. On SQLite stop Deckhand first; on Postgres it may
run. With --dry-run nothing changes, and Deckhand may run.
`,
  async main({ env, argument: file, options }) {
    const bytes = await readFile(file).catch((cause) => {
      throw fileFault(file, 'read', cause);
    });
    const documents = readConfigurations(bytes);
    const config = parseConfig(env);
    const isDry = options['dry-run'] === true;
    if (isDry) existingStore({ STORE_URL: config.STORE_URL });
    const changes = await checkDocuments(config, documents, isDry);
    if (changes.length === 0) return 'Nothing to change.';
    if (isDry) return ['Would change:', ...changes].join('\n');
    await applyAll(config, documents);
    return changes.join('\n');
  },
};

/** Describes the changes. @throws ProgramError if any document has a fault */
function checkDocuments(config: Config, documents: readonly Read[], isDry: boolean): Promise<string[]> {
  return withStore(config.STORE_URL, isDry ? 'read' : 'alone', async (store) => {
    const workspaces = await listWorkspaces(store);
    const faults: string[] = [];
    const changes: string[] = [];
    for (const { configuration, placeOf } of documents) {
      const { workspace } = configuration;
      const today = await readConfiguration(store.of(workspace), workspace);
      const isThere = workspaces.length === 0 || workspaces.includes(workspace);
      const missing: Fault = [['workspace'], !isThere && `The store has ${workspaces.join(', ')} alone.`];
      const others = await findFaults({ requested: configuration, today }, store, config);
      for (const [path, message] of [missing, ...others])
        if (message) faults.push(`${placeOf(path)}: ${message}`);
      changes.push(...planSteps(configuration, today).map(({ description }) => description));
    }
    if (faults.length > 0) throw dataError(...faults);
    return changes;
  });
}

/** Calls the service last: a file that is wrong by itself is refused without it. */
async function findFaults(
  { requested, today }: Record<'requested' | 'today', Configuration>,
  store: Store,
  config: Config,
): Promise<Fault[]> {
  const accounts = await store.of(requested.workspace).collection('accounts', Account).list();
  const keys = accounts.map(({ doc }) => doc);
  const connected = keys.map(({ name }) => name);
  const faults = findContentFaults(requested, today, connected).filter(([, message]) => message);
  if (faults.length > 0) return faults;
  return findProjectFaults({ requested, today, keys: selectKeys(keys, SCHEDULES) }, store, config);
}

/** Makes the changes one by one. After an interruption, the next run makes the remaining ones. */
async function applyAll(config: Config, documents: readonly Read[]): Promise<void> {
  const { app, close } = await openDeckhand(config, { log: createLog('silent'), version: readVersion() });
  try {
    for (const { configuration, placeOf } of documents)
      if (!(await app.parts.installations.isInstalled(configuration.workspace)))
        throw dataError(`${placeOf(['workspace'])}: Deckhand is not installed there. Install it first.`);
    for (const { configuration } of documents) {
      const workspace = app.workspaces.open(configuration.workspace);
      const today = await readConfiguration(workspace.store, workspace.id);
      for (const { apply } of planSteps(configuration, today)) await apply(workspace);
      // Accounts and the settings of channels pause and resume schedules.
      await workspace.accountsChanged();
    }
  } finally {
    await close();
  }
}

/**
 * Finds projects in new or changed entries that no account has.
 * @param keys the key of each account that schedules use
 * @throws ProgramError if the service does not answer
 */
async function findProjectFaults(
  { requested, today, keys }: { requested: Configuration; today: Configuration; keys: readonly Account[] },
  store: Store,
  config: Config,
): Promise<Fault[]> {
  const sealer = createSealer(config.ENCRYPTION_KEYS, store).of(requested.workspace);
  const service = openService(config);
  const cached = new Map<string, Promise<Project[] | undefined>>();
  const list = (key: Account): Promise<Project[] | undefined> => {
    const projects = cached.get(key.name) ?? listReadable(service, key, sealer);
    cached.set(key.name, projects);
    return projects;
  };
  try {
    const faults: Fault[] = [];
    for (const { path, account, project } of changedProjects(requested, today)) {
      const chosen = keys.filter(({ name }) => account === undefined || account === name);
      const lists = await Promise.all(chosen.map(list));
      const isMissing =
        lists.length > 0 &&
        lists.every((projects) => projects?.some((one) => isSameProject(one, project)) === false);
      const place = account ?? 'any account';
      faults.push([path, isMissing && `There is no project ${project.permalink} in ${place}.`]);
    }
    return faults;
  } finally {
    await service.close();
  }
}

/** Projects in entries that the store does not have yet. */
function changedProjects(requested: Configuration, today: Configuration) {
  return PLACED_SECTIONS.flatMap((section) =>
    Object.entries(requested[section] ?? {}).flatMap(([id, { account, project }]) => {
      const before = today[section]?.[id];
      const isSame = before?.account === account && isDeepStrictEqual(before?.project, project);
      if (project === undefined || isSame) return [];
      return [{ path: [section, id, 'project', 'permalink'], account, project }];
    }),
  );
}

/** Returns undefined if the key does not work or a row cannot be read: then nothing is known about a project. */
async function listReadable(
  service: Service,
  key: Account,
  sealer: WorkspaceSealer,
): Promise<Project[] | undefined> {
  const { name: account, email } = key;
  const skipped: SkippedRows[] = [];
  try {
    const apiKey = await sealer.open(makeKeyField(key), key.sealedKey);
    const projects = await listProjects(service.account({ account, email, apiKey }), { skipped });
    return skipped.length > 0 ? undefined : projects;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    if (!(error instanceof ServiceError)) throw error;
    if (!MAY_PASS.has(error.kind)) return undefined;
    throw new ProgramError(
      TEMPORARY_EXIT_CODE,
      `The service does not answer, so the projects of ${account} could not be checked. Nothing was changed. Try again later.`,
    );
  }
}

/** One change, which can be repeated. */
interface Step {
  /** `digest d7k2 changed: range`. */
  description: string;
  isRemoval: boolean;
  apply(workspace: Workspace): Promise<void>;
}

type Entry<Key extends Exclude<keyof Configuration, 'workspace'>> = NonNullable<Configuration[Key]>;

/** How the entries of a section are applied. */
interface Section<E = unknown> {
  noun: string;
  apply(workspace: Workspace, id: string, change: { before: object | undefined; after: E }): Promise<unknown>;
}

const ROLES: Section<Entry<'roles'>> = {
  noun: 'roles of',
  apply: ({ roles, clock }, _, { after }) => roles.set({ ...after, changedBy: '', changedAt: clock.now() }),
};

const CHANNELS: Section<Entry<'channels'>[string] | undefined> = {
  noun: 'settings of',
  apply: ({ channels }, id, { after = {} }) => channels.change(id, () => after),
};

/** Lists the changes that the file asks for. Removals come first, to make room. */
function planSteps(requested: Configuration, today: Configuration): Step[] {
  const byWorkspace = ({ workspace, roles }: Configuration) => roles && { [workspace]: roles };
  return [
    ...planSection(ROLES, byWorkspace(requested), byWorkspace(today)),
    ...planSection(CHANNELS, requested.channels, today.channels),
    ...SECTIONS.flatMap(({ kind, name }) => {
      const { noun } = SCHEDULE_FACES[kind];
      const section: Section<object | undefined> = {
        noun,
        apply: (workspace, id, change) => applyEntry(workspace, { kind, id, ...change }, `apply ${id}`),
      };
      return planSection(section, requested[name], today[name]);
    }),
  ].toSorted((one, other) => Number(other.isRemoval) - Number(one.isRemoval));
}

type Entries = Readonly<Record<string, object>>;

function planSection(section: Section, requested: Entries | undefined, today: Entries = {}): Step[] {
  if (requested === undefined) return [];
  // Maps, because an id may be `constructor`.
  const [old, next] = [new Map(Object.entries(today)), new Map(Object.entries(requested))];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((id) => {
    const [before, after] = [old.get(id), next.get(id)];
    const fields = findDifferences(before, after);
    if (fields.length === 0) return [];
    const changed = before === undefined ? 'added' : `changed: ${fields.join(', ')}`;
    const description = `${section.noun} ${id} ${after === undefined ? 'removed' : changed}`;
    const apply = async (workspace: Workspace): Promise<void> => {
      await section.apply(workspace, id, { before, after });
      await workspace.audit.record({
        requestedBy: 'deckhand',
        what: 'apply',
        target: description,
        result: 'done',
      });
    };
    return [{ description, isRemoval: after === undefined, apply }];
  });
}

function findDifferences(one: object = {}, other: object = {}): string[] {
  const [a, b] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...a.keys(), ...b.keys()])].filter(
    (name) => !isDeepStrictEqual(a.get(name), b.get(name)),
  );
}
