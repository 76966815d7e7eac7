import { getConstructionPlans } from 'pg-boss';
import { type Program, UsageError } from '../program.ts';
import { POSTGRES_SCHEMA } from '../store/postgres.ts';

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
