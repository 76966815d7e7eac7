import process from 'node:process';

export interface Line {
  what: string;
  outcome: 'ok' | 'absent' | 'FAILED';
  detail: string;
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function report(title: string, lines: readonly Line[]): void {
  say(`\n${title}`);
  for (const { what, outcome, detail } of lines) say(`  ${outcome.padEnd(7)} ${what.padEnd(44)} ${detail}`);
}
