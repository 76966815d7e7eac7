import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';

/** Writes, for each test file, which functions and blocks of `src/` ran. A setup file for Vitest. */
const folder = process.env.MUTANTS_COVERAGE;
const source = `${pathToFileURL(process.cwd()).href}/src/`;
const shared = globalThis as { mutantsSession?: Session };

if (folder !== undefined) {
  shared.mutantsSession ??= await startCoverage();
  const session = shared.mutantsSession;
  // Resets the counters: a worker runs many files.
  beforeAll(() => session.post('Profiler.takePreciseCoverage').then(() => {}));
  afterAll(async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = result
      .filter(({ url }) => url.startsWith(source))
      .map(({ url, functions }) => ({
        file: `src/${url.slice(source.length)}`,
        ranges: functions.flatMap(({ ranges }) => ranges),
      }));
    const { testPath = '' } = expect.getState();
    const name = createHash('sha256').update(testPath).digest('hex');
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ test: testPath, files }));
  });
}

async function startCoverage(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return session;
}
