import { test as base } from 'vitest';
import { openTestWorld, type TestWorldOptions } from './test-world.ts';

/**
 * For tests by the front door. Each that asks for `world` gets one of its own, which goes away with it. A file or
 * `describe` says with `test.override` how it is opened, and whether the account is connected; a whole file extends it,
 * because files of one worker share this one.
 */
export const test = base
  .extend('worldOptions', (): TestWorldOptions => ({}))
  .extend('connected', (): boolean => false)
  .extend('world', async ({ worldOptions, connected }, { onCleanup }) => {
    const world = await openTestWorld({ connected, ...worldOptions });
    onCleanup(() => world.stop());
    return world;
  });
