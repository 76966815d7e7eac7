import { getConstructionPlans } from 'pg-boss';
import { type Program, UsageError } from '../program.ts';
import { POSTGRES_SCHEMA } from '../store/postgres.ts';

export const SCHEMA: Program = {
  command: 'deckhand schema',
  options: {},
  help: `Usage: deckhand schema

Prints the statements that make what Deckhand needs in a Postgres database, for an owner who gives Deckhand's own user no right
to create. docs/operations.md has the rights that this user needs.
`,
  async run({ words }) {
    if (words.length > 0) throw new UsageError('Give nothing behind the name');
    return `${POSTGRES_SCHEMA}${getConstructionPlans()}`;
  },
};
