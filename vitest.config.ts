import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { configDefaults, defineConfig } from 'vitest/config';
import { byLength } from './test/support/length.ts';
import { LongestFirst } from './test/support/longest-first.ts';

// Compiled code is kept between workers, the processes they start, and runs.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'deckhand-tests');

/** Minutes of kills and floods, which `npm run test:long` runs each night. */
const NIGHTLY = [
  'test/deploy/rolling-restart.test.ts',
  'test/kill-matrix/outages.test.ts',
  'test/process/{chaos,hostile-traffic,replicas}.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    // As Deckhand itself runs: what does not last long is collected less often.
    execArgv: ['--max-semi-space-size=16'],
    // Files of one worker share its modules: loading them took longer than most files' tests.
    isolate: false,
    // Node runs our TypeScript as it is.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Many tests wait for child processes, leases and Slack's deadlines, so that three more than cores go well together;
    // more than that load more modules than they gain.
    maxWorkers: availableParallelism() + 3,
    // Never waited out where all is well: a loaded machine takes many times as long as an idle one.
    testTimeout: byLength(120_000, 900_000),
    hookTimeout: byLength(120_000, 900_000),
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/support/shared.ts',
    setupFiles: [
      'test/support/imports.ts',
      ...(process.env.MUTANTS_COVERAGE ? ['test/mutations/cover.ts'] : []),
    ],
    include: ['test/**/*.test.ts', 'sandbox/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...byLength(NIGHTLY, [])],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
