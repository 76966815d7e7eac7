import { type Change, type RecordKind, RULES } from './rules.ts';
import type { Kind } from './settings.ts';
import type { Sky } from './sky.ts';

export type Fields = Record<string, unknown>;

const KIND_OF: Record<Change, Kind> = {
  absent: 'absent',
  null: 'nulls',
  text: 'types',
  number: 'types',
  notify: 'types',
};

/** Fields that no document names, of every type there is. */
const EXTRAS: readonly [string, unknown][] = [
  ['legacy_id', 4711],
  ['labels', ['blue', null]],
  ['links', { self: { href: '/v2/records/4711', status: 'error' } }],
  ['archived', null],
  ['constructor', 'ACME Builder'],
];

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What names a record in the draws; made-up identifiers differ at every start, so that they come last. */
export function keyOf(record: Fields): string {
  const { permalink, name, number, slug, identifier } = record;
  return String(permalink ?? name ?? number ?? slug ?? identifier ?? '');
}

/** The record as this weather has it: the same key is drawn the same, in a list and by itself. */
export function changeRecord(sky: Sky, kind: RecordKind, record: Fields, key = keyOf(record)): Fields {
  const changed: Fields = {};
  for (const [name, value] of Object.entries(record)) {
    const change = drawChange(sky, kind, key, name);
    if (change === 'notify') Object.assign(changed, notifyEmail(sky, key));
    else if (change !== 'absent') changed[name] = apply(sky, change, value, [kind, key, name]);
  }
  return { ...changed, ...extras(sky, kind, key) };
}

function drawChange(sky: Sky, kind: RecordKind, key: string, name: string): Change | undefined {
  const rule = RULES[kind].fields[name] ?? {};
  const changes = [...(rule.spec ?? []), ...(sky.wild ? (rule.wild ?? []) : [])];
  const [first, ...rest] = changes.filter((change) => sky.allows(KIND_OF[change]));
  if (first === undefined || sky.fraction('change', kind, key, name) >= sky.share) return undefined;
  return sky.pick([first, ...rest], kind, key, name);
}

function apply(sky: Sky, change: Change | undefined, value: unknown, key: string[]): unknown {
  if (change === 'null') return null;
  if (change === 'text' && value !== null) return String(value);
  if (change === 'number' && value !== null) return Number(value);
  return otherTime(sky, value, key);
}

/** A flag by spec 2.9; others send the address that is written to, an empty text, or nothing. */
function notifyEmail(sky: Sky, key: string): Fields {
  const values = [true, false, 'ops@example.com', '', undefined] as const;
  const value = sky.pick(values, 'notify_email', key);
  return value === undefined ? {} : { notify_email: value };
}

function extras(sky: Sky, kind: RecordKind, key: string): Fields {
  if (!(RULES[kind].open || sky.wild)) return {};
  return Object.fromEntries(EXTRAS.filter(([name]) => sky.happens('extra', kind, key, name)));
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The same moment, otherwise written. Spec 1: ISO 8601, and no more is said. */
function otherTime(sky: Sky, value: unknown, key: string[]): unknown {
  if (typeof value !== 'string' || !TIMESTAMP.test(value) || !sky.happens('times', ...key)) return value;
  const atTwo = new Date(Date.parse(value) + 2 * 3_600_000).toISOString().slice(0, -1);
  const forms = [`${atTwo}+02:00`, `${value.slice(0, -1)}456Z`, `${value.slice(0, -1)}+00:00`] as const;
  return sky.pick(forms, 'time', ...key);
}
