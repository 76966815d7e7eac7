import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

const SRC = join(import.meta.dirname, '..', 'src/');

/** What a request of ours passed through, from its arrival to what people see in the end. */
export interface Journey {
  /** Files of src/ in which a function ran. */
  files: string[];
  /** SQL statements that were run, in their order. */
  statements: string[];
}

/** Measures what runs in this process while `travel` does, and nothing that ran before it. */
export async function measureJourney(travel: () => Promise<void>): Promise<Journey> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // Starting keeps the counts of an earlier coverage; taking them sets them to zero.
  await session.post('Profiler.takePreciseCoverage');
  const counted = countStatements();
  try {
    await travel();
    // What follows in the same turn of the event loop, and in those until the coverage is there, is no part of it.
    const statements = counted.statements.slice();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return { files: executedFiles(result), statements };
  } finally {
    counted.stop();
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { count: number }[] }[];
}

/** The test runner serves a file under its own address, also with a query behind. */
function executedFiles(scripts: ScriptCoverage[]): string[] {
  const files = scripts
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => (url.startsWith('file://') ? fileURLToPath(url) : url).replace(/\?.*$/, ''))
    .filter((path) => path.startsWith(SRC))
    .map((path) => path.slice(SRC.length));
  return [...new Set(files)].sort();
}

/** Counts what prepared statements run, by node:sqlite's own methods. */
function countStatements(): { statements: string[]; stop: () => void } {
  const statements: string[] = [];
  const kept = METHODS.map(
    (name) => [name, Object.getOwnPropertyDescriptor(StatementSync.prototype, name)] as const,
  );
  for (const [name, descriptor] of kept) {
    const method: unknown = descriptor?.value;
    if (descriptor === undefined || typeof method !== 'function') continue;
    Object.defineProperty(StatementSync.prototype, name, {
      ...descriptor,
      value(this: StatementSync, ...values: unknown[]) {
        statements.push(
          `${this.sourceSQL.replace(/\s+/g, ' ')} ${values.map(String).join(' | ').slice(0, 160)}`,
        );
        return method.apply(this, values);
      },
    });
  }
  return {
    statements,
    stop: () => {
      for (const [name, descriptor] of kept)
        if (descriptor !== undefined) Object.defineProperty(StatementSync.prototype, name, descriptor);
    },
  };
}

const METHODS = ['all', 'get', 'iterate', 'run'] as const;
