import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Config, parseConfig, readVersion } from '../config.ts';
import { MAY_PASS, ServiceError } from '../core/errors.ts';
import { isSameProject } from '../core/project-ref.ts';
import { systemClock } from '../core/time/clock.ts';
import { createLog } from '../observability/log.ts';
import { openDeckhand } from '../open.ts';
import { Account, keyField, keysFor, SCHEDULES } from '../records/accounts.ts';
import { accountsChanged } from '../records/schedules.ts';
import type { SkippedRows } from '../service/call.ts';
import { createService, type Service } from '../service/client.ts';
import { listProjects, type Project } from '../service/projects.ts';
import { createSealer, SealError, type WorkspaceSealer } from '../store/sealer.ts';
import type { Store } from '../store/store.ts';
import { type Step, stepsOf } from './apply-steps.ts';
import { type Configuration, listWorkspaces, readConfiguration } from './configuration.ts';
import { type Fault, faultsOf, type Read, readConfigurations } from './configuration-file.ts';
import { DataError, type Program, TemporaryError, UsageError } from './program.ts';
import { fileFault } from './sqlite-files.ts';
import { expectThere, withStore } from './stores.ts';

export const APPLY: Program = {
  command: 'deckhand apply',
  options: { 'dry-run': { type: 'boolean' } },
  help: `Usage: deckhand apply <file> [--dry-run]

Makes the store of STORE_URL as the file says, which deckhand export has printed, and prints what it changed. A section that the file
has is made exactly so, and what it lacks is removed; a section that it leaves out stays as it is. What is paused stays paused. Where
the file is wrong, every fault is printed with its line, nothing is changed, and it ends with 65. The service is asked for the projects
of connected accounts; where it does not answer, nothing is changed, and it ends with 75. On SQLite stop Deckhand first; on Postgres it
may run. With --dry-run nothing is changed, and Deckhand may run.
`,
  async run({ env, words, options }) {
    const [file, ...more] = words;
    if (file === undefined || more.length > 0) throw new UsageError('Give the one file to read');
    const bytes = await readFile(file).catch((cause) => {
      throw fileFault(file, 'read', cause);
    });
    const read = readConfigurations(bytes);
    const config = parseConfig(env);
    const isDry = options['dry-run'] === true;
    if (isDry) expectThere(config.STORE_URL);
    const said = await check(config, read, isDry);
    if (said.length === 0) return 'Nothing to change.';
    if (isDry) return ['Would change:', ...said].join('\n');
    await carryOut(config, read);
    return said.join('\n');
  },
};

/** What would be changed. @throws DataError where anything is wrong, in any of the documents */
function check(config: Config, read: readonly Read[], isDry: boolean): Promise<string[]> {
  return withStore(config.STORE_URL, isDry ? 'read' : 'alone', async (store) => {
    const known = await listWorkspaces(store);
    const faults: string[] = [];
    const steps: Step[] = [];
    for (const { configuration, placeOf } of read) {
      const { workspace } = configuration;
      const today = await readConfiguration(store.of(workspace), workspace);
      const isKnown = known.length === 0 || known.includes(workspace);
      const unknown: Fault = [['workspace'], !isKnown && `The store has ${known.join(', ')} alone.`];
      const found = await faultsIn({ wanted: configuration, today }, store, config);
      for (const [path, message] of [unknown, ...found])
        if (message) faults.push(`${placeOf(path)}: ${message}`);
      steps.push(...stepsOf(configuration, today));
    }
    if (faults.length > 0) throw new DataError(faults);
    return steps.map(({ said }) => said);
  });
}

/** The service is asked last: a file that is wrong by itself is refused without it. */
async function faultsIn(
  { wanted, today }: Record<'wanted' | 'today', Configuration>,
  store: Store,
  config: Config,
): Promise<Fault[]> {
  const accounts = await store.of(wanted.workspace).collection('accounts', Account).list();
  const keys = accounts.map(({ doc }) => doc);
  const connected = keys.map(({ name }) => name);
  const faults = faultsOf(wanted, today, connected).filter(([, message]) => message);
  if (faults.length > 0) return faults;
  return projectFaults({ wanted, today, keys: keysFor(keys, SCHEDULES) }, store, config);
}

/** Step by step; interrupted, it goes on where it was when it is run again. */
async function carryOut(config: Config, read: readonly Read[]): Promise<void> {
  const { app, close } = await openDeckhand(config, { log: createLog('silent'), version: readVersion() });
  try {
    for (const { configuration, placeOf } of read)
      if (!(await app.parts.installations.isInstalled(configuration.workspace)))
        throw new DataError([
          `${placeOf(['workspace'])}: Deckhand is not installed there. Install it first.`,
        ]);
    for (const { configuration } of read) {
      const workspace = app.workspaces.open(configuration.workspace);
      const today = await readConfiguration(workspace.store, workspace.id);
      for (const { run } of stepsOf(configuration, today)) await run(workspace);
      // Schedules pause and resume by the accounts, and by what their channels allow.
      await accountsChanged(workspace);
    }
  } finally {
    await close();
  }
}

/**
 * The projects that the file names and no such account has, of all that would change.
 * @param keys those that schedules use, one an account
 * @throws TemporaryError where the service does not answer
 */
export async function projectFaults(
  { wanted, today, keys }: { wanted: Configuration; today: Configuration; keys: readonly Account[] },
  store: Store,
  config: Config,
): Promise<Fault[]> {
  const sealer = createSealer(config.ENCRYPTION_KEYS, store).of(wanted.workspace);
  const service = createService({
    baseUrl: config.SERVICE_BASE_URL,
    proxies: config.proxies,
    version: readVersion(),
    clock: systemClock,
  });
  const read = new Map<string, Promise<Project[] | undefined>>();
  try {
    const faults: Fault[] = [];
    for (const { path, account, project } of namedIn(wanted, today)) {
      const meant = keys.filter(({ name }) => account === undefined || account === name);
      for (const key of meant)
        if (!read.has(key.name)) read.set(key.name, listReadable(service, key, sealer));
      const known = await Promise.all(meant.map(({ name }) => read.get(name)));
      const isMissing =
        known.length > 0 &&
        known.every((listed) => listed?.some((one) => isSameProject(one, project)) === false);
      const where = account ?? 'any account';
      faults.push([path, isMissing && `There is no project ${project.permalink} in ${where}.`]);
    }
    return faults;
  } finally {
    await service.close();
  }
}

/** What is in the store already is not asked for again. */
function namedIn(wanted: Configuration, today: Configuration) {
  const sections = ['channels', 'digests', 'guards', 'watches'] as const;
  return sections.flatMap((section) =>
    Object.entries(wanted[section] ?? {}).flatMap(([id, { account, project }]) => {
      const before = today[section]?.[id];
      const isSame = before?.account === account && isDeepStrictEqual(before?.project, project);
      if (project === undefined || isSame) return [];
      return [{ path: [section, id, 'project', 'permalink'], account, project }];
    }),
  );
}

/** Undefined where the key does not work, for then all that belongs to the account waits for one that does. */
async function listReadable(
  service: Service,
  key: Account,
  sealer: WorkspaceSealer,
): Promise<Project[] | undefined> {
  const { name: account, email } = key;
  const skipped: SkippedRows[] = [];
  try {
    const client = service.account({
      account,
      email,
      apiKey: await sealer.open(keyField(key), key.sealedKey),
    });
    const projects = await listProjects(client, { skipped });
    return skipped.length > 0 ? undefined : projects;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    if (!(error instanceof ServiceError)) throw error;
    if (!MAY_PASS.has(error.kind)) return undefined;
    throw new TemporaryError(
      `The service does not answer, so the projects of ${account} could not be checked. Nothing was changed. Try again later.`,
    );
  }
}
