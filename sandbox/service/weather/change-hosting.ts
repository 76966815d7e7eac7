import { isFields } from './change-record.ts';
import type { Sky } from './sky.ts';

/** A region that is full: it is listed, and cannot be chosen. */
export function addFullRegion(sky: Sky, rows: unknown): unknown {
  if (!Array.isArray(rows) || !sky.wild || !sky.happens('shapes', 'full region')) return rows;
  return [...rows, { slug: 'syd1', name: 'Sydney', available: false }];
}

/** `{regions}` or `{sizes}`, whose list was changed already, in the envelopes that are known. */
export function changeEnvelope(sky: Sky, body: Record<string, unknown>, key: 'regions' | 'sizes'): unknown {
  if (!sky.wild || !sky.happens('shapes', key)) return body;
  const rows = body[key];
  if (!Array.isArray(rows) || key === 'sizes') return rows;
  const grouped = { europe: rows.slice(0, 2), elsewhere: rows.slice(2) };
  return sky.pick([rows, { grouped_regions: grouped }], 'envelope', key);
}

/** A static site among the machines: without region, size, address, price and key. */
export function addStaticSite(sky: Sky, rows: unknown): unknown {
  if (!Array.isArray(rows) || !sky.wild || !sky.happens('shapes', 'static site')) return rows;
  const model = rows.find(isFields);
  const times = { created_at: model?.created_at, updated_at: model?.updated_at };
  const site = {
    identifier: 'site-7f3a',
    name: 'Docs site',
    kind: 'static_site',
    status: 'active',
    ...times,
  };
  return [...rows, site];
}
