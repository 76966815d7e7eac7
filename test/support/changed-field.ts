import type { TestWorld } from './test-world.ts';

type Json = Record<string, unknown>;

/** Makes every answer that was asked for hold another value in one field of the specification, e.g. `2.9 server.port`. */
export function changeField({ service: { faults } }: TestWorld, field: string): void {
  const [, name = ''] = field.split(' ');
  const path = name
    .replace(/^server\./, 'servers.')
    .replace(/^(?:region|size)\./, '')
    .split('.');
  const asked = faults.list();
  faults.clear();
  for (const { id: _id, hits: _hits, body, ...fault } of asked) {
    faults.add({ ...fault, ...(body !== undefined && { body: changed(body, path) }) });
  }
}

/** The field that is nearest to the top, wherever the answer begins. */
function changed(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((row) => changed(row, path));
  if (typeof value !== 'object' || value === null) return value;
  const [name = '', ...rest] = path;
  const fields = value as Json;
  if (!(name in fields)) {
    return Object.fromEntries(Object.entries(fields).map(([key, inner]) => [key, changed(inner, path)]));
  }
  return { ...fields, [name]: rest.length === 0 ? otherThan(fields[name]) : changed(fields[name], rest) };
}

/** Another value of the same kind; undefined, which leaves the field out, where there is none. */
function otherThan(value: unknown): unknown {
  if (value === null) return 12.5;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return undefined;
  return /^\d{4}-\d\d-\d\dT/.test(value) ? '2001-02-03T04:05:06Z' : 'zzz';
}
