import type { z } from 'zod';
import type { World } from '../records.ts';
import { accountOperations } from './accounts.ts';
import { hostingAndBillingOperations } from './hosting-and-billing.ts';
import type { Operation } from './operation.ts';
import { projectOperations } from './projects.ts';
import { siteOperations } from './site.ts';

/** Everything the world can be told, by tests in the process and over `/_control`. */
const operations = {
  ...accountOperations,
  ...projectOperations,
  ...hostingAndBillingOperations,
  ...siteOperations,
};
type Operations = typeof operations;

type BoundOperation<O> = O extends Operation<infer S, infer R> ? (input: z.input<S>) => R : never;

/** The operations as functions over one world; each throws where its input is wrong. */
export type WorldOperations = { [Name in keyof Operations]: BoundOperation<Operations[Name]> };

export function bindOperations(world: World): WorldOperations {
  const bound = Object.entries(operations).map(([name, { schema, run }]) => {
    // The table pairs each schema with its own run; entries() cannot say so.
    const call = run as (world: World, input: unknown) => unknown;
    return [name, (input: unknown) => call(world, schema.parse(input))];
  });
  return Object.fromEntries(bound) as WorldOperations;
}
