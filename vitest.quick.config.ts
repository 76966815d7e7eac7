import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

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
  'test/kill-matrix/**/*.test.ts',
  'test/journeys.test.ts',
  'test/listeners/install/{lifecycle,tokens}.test.ts',
  'test/listeners/receivers/signatures.test.ts',
  'test/observability/{jobs,process}.test.ts',
  'test/process/**/*.test.ts',
  'test/sandbox/**/*.test.ts',
  'test/pictures/*.test.ts',
  'test/scheduler/digests/digest.test.ts',
  'test/scheduler/invoices/notices.test.ts',
  'test/security/{isolation,typed,uninstall,walk}.test.ts',
  'test/store/*.test.ts',
  'test/transfer/**/*.test.ts',
  'test/trust/starvation.test.ts',
  'test/weather.test.ts',
];

export default mergeConfig(
  config,
  defineConfig({ test: { exclude: [...configDefaults.exclude, ...HEAVY] } }),
);
