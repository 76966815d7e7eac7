import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Most tests wait for sockets and child processes, so that more of them than cores go well together.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    restoreMocks: true,
    unstubEnvs: true,
  },
});
