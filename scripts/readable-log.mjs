// Makes log lines readable while developing: `node src/main.ts | node scripts/readable-log.mjs`.
import process from 'node:process';
import { createInterface } from 'node:readline';

const COLOURS = { fatal: 31, error: 31, warn: 33, info: 36, debug: 90, trace: 90 };

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${readable(line)}\n`);

function readable(line) {
  const entry = parse(line);
  if (entry === undefined) return line;
  const { time = '', level = '', event = '', msg = '', err, ...fields } = entry;
  const details = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const head = `${time.slice(11, 19)} \x1b[${COLOURS[level] ?? 0}m${level.padEnd(5)}\x1b[0m ${event}: ${msg}`;
  return [head, ...details].join(' ') + (err?.stack === undefined ? '' : `\n${err.stack}`);
}

/** Undefined for a line that is not a log entry, e.g. one of Node's own. */
function parse(line) {
  try {
    return line.startsWith('{') ? JSON.parse(line) : undefined;
  } catch {
    return undefined;
  }
}
