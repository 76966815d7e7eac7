import { getConstructionPlans } from 'pg-boss';
import { type Config, readVersion } from '../config.ts';
import { systemClock } from '../core/time/clock.ts';
import { createService } from '../service/client.ts';
import { storeFault } from '../store/database-fault.ts';
import { openStore } from '../store/open-store.ts';
import { POSTGRES_SCHEMA } from '../store/postgres.ts';
import { parseEncryptionKeys, rotateKeys } from '../store/sealer.ts';
import { DataError, type Program, UsageError } from './program.ts';
import { DEFAULT_STORE, expectThere } from './stores.ts';

export const ROTATE_KEYS: Program = {
  command: 'deckhand rotate-keys',
  options: {},
  help: `Usage: deckhand rotate-keys

Wraps the data key of every workspace in the store of STORE_URL with the first of ENCRYPTION_KEYS, while Deckhand runs.
Afterwards the other keys may be taken away. It can be run again at any time.
`,
  async run({ env, words }) {
    if (words.length > 0) throw new UsageError('Give nothing behind the name');
    const keys = parseEncryptionKeys(env.ENCRYPTION_KEYS ?? '');
    const url = env.STORE_URL || DEFAULT_STORE;
    expectThere(url);
    const store = await openStore(url, { access: 'beside' });
    const { rewrapped, current } = await rotateKeys(keys, store)
      .catch((error) => {
        throw storeFault(url, error) ?? error;
      })
      .finally(() => store.close());
    return `${rewrapped} data keys re-wrapped with ${keys[0].id}, ${current} were so already.`;
  },
};

/** pg-boss's own statements fail if its tables exist. They cannot begin a transaction inside this one. */
const PLANS = getConstructionPlans().replace(/^\s*BEGIN;|COMMIT;\s*$/g, '');
const MAKE_PGBOSS = `DO $deckhand$ BEGIN
IF to_regclass('pgboss.version') IS NULL THEN EXECUTE $plans$${PLANS}$plans$; END IF;
END $deckhand$;
`;

export const SCHEMA: Program = {
  command: 'deckhand schema',
  options: {},
  help: `Usage: deckhand schema

Prints the statements that make what Deckhand needs in a Postgres database, for an owner who gives Deckhand's own user no right
to create. They do nothing where all is made already. docs/operations.md has the rights that this user needs.
`,
  async run({ words }) {
    if (words.length > 0) throw new UsageError('Give nothing behind the name');
    return `${POSTGRES_SCHEMA}${MAKE_PGBOSS}`;
  },
};

/**
 * Compares the calls that Deckhand makes with the description that the service publishes.
 * @returns one line
 * @throws DataError with a line for each difference
 */
export async function checkService({
  SERVICE_BASE_URL,
  SERVICE_SIGNUP_URL,
  proxies,
}: Config): Promise<string> {
  const service = createService({
    baseUrl: SERVICE_BASE_URL,
    signupUrl: SERVICE_SIGNUP_URL,
    proxies,
    version: readVersion(),
    clock: systemClock,
  });
  try {
    const report = await service.checkDrift();
    if ('note' in report) return report.note;
    if (report.drift.length > 0) throw new DataError(report.drift);
    return "Deckhand's calls agree with the service's description.";
  } finally {
    await service.close();
  }
}
