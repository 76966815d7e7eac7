import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { byLength } from './test/support/length.ts';

/**
 * What starts processes, a browser, Postgres or threads, or takes seconds to compute, and what tests the sandbox rather
 * than Deckhand; all other files are quick.
 */
const HEAVY = [
  'test/browser/**/*.test.ts',
  'test/commands/activity/activity.test.ts',
  'test/commands/digests/digest.test.ts',
  'test/commands/workflows/kill.test.ts',
  'test/drain-process.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/jobs/**/*.test.ts',
  'test/listeners/install/{lifecycle,tokens}.test.ts',
  'test/observability/{jobs,process}.test.ts',
  'test/process/**/*.test.ts',
  'test/sandbox/**/*.test.ts',
  'test/pictures/*.test.ts',
  'test/scheduler/digests/digest.test.ts',
  'test/scheduler/invoices/notices.test.ts',
  'test/security/{isolation,walk}.test.ts',
  'test/store/*.test.ts',
];

// Compiled code is kept between workers, the processes they start, and runs.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'deckhand-tests');

export default defineConfig({
  test: {
    pool: 'forks',
    // Files of one worker share its modules: loading them took longer than most files' tests.
    isolate: false,
    // Node runs our TypeScript as it is.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Many tests wait for sockets and child processes, so that one more than cores goes well together.
    maxWorkers: availableParallelism() + 1,
    // Never waited out where all is well: a loaded machine takes many times as long as an idle one.
    testTimeout: byLength(120_000, 900_000),
    hookTimeout: byLength(120_000, 900_000),
    expect: { poll: { timeout: 60_000 } },
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: HEAVY } },
      { extends: true, test: { name: 'heavy', include: HEAVY } },
    ],
  },
});
