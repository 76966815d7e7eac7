import process from 'node:process';

export type Outcome = [outcome: 'ok' | 'absent' | 'FAILED', detail: string];

export interface Line {
  what: string;
  outcome: Outcome[0];
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Steps that are reported as they end, judged by their text or error and by what came since `mark`. */
export function createSteps(mark: () => number, judge: (text: string | Error, since: number) => Outcome) {
  const lines: Line[] = [];
  async function step(what: string, act: () => Promise<string>): Promise<void> {
    const since = mark();
    const [outcome, detail] = judge(await act().catch((error: Error) => error), since);
    lines.push({ what, outcome });
    say(
      `  ${outcome.padEnd(7)} ${what.padEnd(44)} ${detail.slice(0, outcome === 'ok' ? 100 : 600).replaceAll('\n', ' ')}`,
    );
  }
  return { lines, step };
}
