import { getConstructionPlans } from 'pg-boss';
import { POSTGRES_SCHEMA } from '../store/postgres.ts';
import type { Program } from './program.ts';

/** pg-boss's own statements, which fail if its tables exist. `DO` allows no transaction of their own. */
const PLANS = getConstructionPlans().replace(/^\s*BEGIN;|COMMIT;\s*$/g, '');
const MAKE_PGBOSS = `DO $deckhand$ BEGIN
IF to_regclass('pgboss.version') IS NULL THEN EXECUTE $plans$${PLANS}$plans$; END IF;
END $deckhand$;
`;

export const SCHEMA: Program = {
  command: 'deckhand schema',
  help: `Usage: deckhand schema

Prints the statements that create what Deckhand needs in a Postgres database, for an owner who gives Deckhand's own user no
right to create. Run again, they change nothing. docs/operations.md lists the rights that this user needs.
`,
  async main() {
    return `${POSTGRES_SCHEMA}${MAKE_PGBOSS}`;
  },
};
