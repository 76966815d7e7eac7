import type { z } from 'zod';
import type { World } from '../records.ts';

/** One thing the world can be told: what it takes, and what it does. */
export interface Operation<S extends z.ZodType, R> {
  schema: S;
  run(world: World, input: z.output<S>): R;
}

export function operation<S extends z.ZodType, R>(
  schema: S,
  run: (world: World, input: z.output<S>) => R,
): Operation<S, R> {
  return { schema, run };
}
