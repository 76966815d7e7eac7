import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';

/** A setup file for Vitest: writes which functions and blocks of `src/` each test file runs. */
const root = process.cwd();
const here = `${pathToFileURL(root).href}/`;
const shared = globalThis as { coverage?: Session };
const session = shared.coverage ?? new Session();
// Before the modules load. A worker runs many files.
if (shared.coverage === undefined) {
  shared.coverage = session;
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

// Resets the counters.
beforeAll(() => session.post('Profiler.takePreciseCoverage').then(() => {}));

afterAll(async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const own = result.filter(({ url }) => url.startsWith(`${here}src/`));
  const files = own.map(({ url, functions }) => ({
    file: url.slice(here.length),
    ranges: functions.flatMap(({ ranges }) => ranges),
  }));
  const test = relative(root, expect.getState().testPath ?? '');
  writeFileSync(join(process.env.MUTANTS_COVERAGE ?? '', randomUUID()), JSON.stringify({ test, files }));
});
