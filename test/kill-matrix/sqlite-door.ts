import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Loaded before a process begins, because SQLite has no wire: the statements that Node hands to it are counted since the
 * file STORE_DOOR was written, which says at which of them the process ends itself, as `kill -9` would.
 */
const file = process.env.STORE_DOOR ?? '';
let begun = '';
let count = 0;

function wanted(): { at: number; when: string; id: string } | undefined {
  const text = readFileSync(file, 'utf8');
  return text === '' ? undefined : (JSON.parse(text) as { at: number; when: string; id: string });
}

function counting<This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): (this: This, ...args: Args) => Result {
  return function counted(this: This, ...args: Args): Result {
    const point = wanted();
    if (point === undefined) return method.apply(this, args);
    if (point.id !== begun) [begun, count] = [point.id, 0];
    count += 1;
    if (point.at === 0) writeFileSync(`${file}-count`, String(count));
    if (count === point.at && point.when === 'before') process.kill(process.pid, 'SIGKILL');
    const result = method.apply(this, args);
    if (count === point.at && point.when === 'after') process.kill(process.pid, 'SIGKILL');
    return result;
  };
}

for (const name of ['all', 'get', 'run'] as const) {
  const method = StatementSync.prototype[name] as (this: StatementSync, ...args: unknown[]) => unknown;
  Object.defineProperty(StatementSync.prototype, name, { value: counting(method), configurable: true });
}
Object.defineProperty(DatabaseSync.prototype, 'exec', {
  value: counting(DatabaseSync.prototype.exec),
  configurable: true,
});
