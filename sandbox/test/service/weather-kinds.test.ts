import { expect, test } from 'vitest';
import type { Kind } from '../../service/weather/settings.ts';
import { openWeather, rowsOf } from './varied.ts';

/** What a person would see of each kind, over a few seeds, when nothing else varies. */
const SEEN: ReadonlyArray<[what: string, kind: Kind, path: string, sign: (body: unknown) => boolean]> = [
  [
    'a project without its star',
    'absent',
    '/projects',
    (body) => rowsOf(body).some((row) => !('starred' in row)),
  ],
  [
    'an invoice without its tax',
    'absent',
    '/account/invoices',
    (body) => rowsOf(body).some((row) => !('vat' in row)),
  ],
  [
    'a machine without a size',
    'nulls',
    '/hosted_resources',
    (body) => rowsOf(body).some((row) => row.size === null),
  ],
  [
    'a port as text',
    'types',
    '/projects/alpha/servers',
    (body) => rowsOf(body).some((row) => row.port === '22'),
  ],
  [
    'an empty notify_email',
    'types',
    '/projects/alpha/servers',
    (body) => rowsOf(body).some((row) => row.notify_email === ''),
  ],
  [
    'an address as notify_email',
    'types',
    '/projects/alpha/servers',
    (body) => rowsOf(body).some((row) => /@/.test(String(row.notify_email))),
  ],
  [
    'no notify_email at all',
    'types',
    '/projects/alpha/servers',
    (body) => rowsOf(body).some((row) => !('notify_email' in row)),
  ],
  [
    'a price as text',
    'types',
    '/hosted_resources',
    (body) => rowsOf(body).some((row) => row.monthly_cost === '8'),
  ],
  [
    'a total as a number',
    'types',
    '/account/invoices',
    (body) => rowsOf(body).some((row) => row.total === 49),
  ],
  [
    'fields that no document names',
    'extra',
    '/profile',
    (body) => Object.hasOwn(body as object, 'legacy_id'),
  ],
  ['a time with an offset', 'times', '/hosted_resources', (body) => JSON.stringify(body).includes('+02:00')],
  ['projects in another order', 'order', '/projects', (body) => rowsOf(body)[0]?.name !== 'alpha'],
  [
    'null among the projects',
    'odd_rows',
    '/projects',
    (body) => (body as unknown[]).some((row) => row === null),
  ],
  [
    'an invoice without its number',
    'odd_rows',
    '/account/invoices',
    (body) => rowsOf(body).some((row) => 'kind' in row && !('number' in row)),
  ],
  ['a word among the events', 'odd_rows', '/activity', (body) => (body as unknown[]).includes('gone')],
  [
    'a queued deployment',
    'events',
    '/activity',
    (body) => rowsOf(body).some((row) => row.event === 'deploy_queued'),
  ],
  [
    'an event of an unknown type',
    'events',
    '/activity',
    (body) => rowsOf(body).some((row) => row.event === 'config_file_rotated'),
  ],
  [
    'statistics without an average',
    'absent',
    '/activity?include=stats',
    (body) => !JSON.stringify(body).includes('avg_duration'),
  ],
  ['bare regions', 'shapes', '/managed_hosting/regions', Array.isArray],
  [
    'grouped regions',
    'shapes',
    '/managed_hosting/regions',
    (body) => Object.hasOwn(body as object, 'grouped_regions'),
  ],
  [
    'a full region',
    'shapes',
    '/managed_hosting/regions',
    (body) => JSON.stringify(body).includes('"available":false'),
  ],
  ['bare sizes', 'shapes', '/managed_hosting/sizes', Array.isArray],
  [
    'a static site among the machines',
    'shapes',
    '/hosted_resources',
    (body) => rowsOf(body).some((row) => row.kind === 'static_site'),
  ],
  ['projects under their name', 'shapes', '/projects', (body) => Object.hasOwn(body as object, 'projects')],
  [
    'no list of servers',
    'shapes',
    '/projects/alpha/servers',
    (body) => (body as { error_code?: string }).error_code === 'invalid_api_method',
  ],
  [
    'no feed',
    'not_found',
    '/activity',
    (body) => (body as { error_code?: string }).error_code === 'record_not_found',
  ],
  [
    'the status as a number',
    'failures',
    '/hosted_resources/none',
    (body) => (body as { status?: unknown }).status === 404,
  ],
  [
    'the hint as the message too',
    'doubled',
    '/hosted_resources/none',
    (body) => Object.hasOwn(body as object, 'error'),
  ],
];

test.each(SEEN)('brings %s', async (_, kind, path, sign) => {
  const { service, caller } = await openWeather();
  const seeds = Array.from({ length: 40 }, (_, seed) => seed);
  let met = false;
  for (const seed of seeds) {
    service.weather.set({ strength: 'wild', seed, share: 1, only: [kind] });
    met ||= sign((await caller.get(path)).body);
  }
  expect(met).toBe(true);
});
