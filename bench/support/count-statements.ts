import { writeFileSync } from 'node:fs';
import process from 'node:process';
import pg from 'pg';

/** Loaded before a program: at its end, `COUNTS` has the number of its statements of Postgres by text. */
const { COUNTS = '' } = process.env;
const counts = new Map<string, number>();
const { query } = pg.Client.prototype;
// biome-ignore lint/suspicious/noExplicitAny: `query` takes texts and objects, with callbacks or without
pg.Client.prototype.query = function count(this: pg.Client, ...args: any[]): any {
  const [given] = args;
  const whole = String(given?.text ?? given);
  // A text may hold several statements.
  for (const text of whole.split(';').map((one) => one.replace(/\s+/g, ' ').trim()))
    if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
  return Reflect.apply(query, this, args);
};
process.on('SIGUSR2', () => counts.clear());
process.on('exit', () => writeFileSync(COUNTS, JSON.stringify([...counts])));
