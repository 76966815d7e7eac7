import { isDeepStrictEqual } from 'node:util';
import { type Config, readVersion } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { MAY_PASS, ServiceError } from '../core/errors.ts';
import { isSameProject } from '../core/project-ref.ts';
import { TemporaryError } from '../program.ts';
import { keyField } from '../records/account-keys.ts';
import type { Account } from '../records/accounts.ts';
import type { SkippedRows } from '../service/call.ts';
import { createService, type Service } from '../service/client.ts';
import { listProjects, type Project } from '../service/projects.ts';
import { createSealer, SealError, type WorkspaceSealer } from '../store/sealer.ts';
import type { Store } from '../store/store.ts';
import type { Configuration } from './configuration.ts';
import type { Fault } from './configuration-faults.ts';

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
