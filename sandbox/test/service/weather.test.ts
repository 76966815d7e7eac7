import { expect, test } from 'vitest';
import type { Kind } from '../../service/weather/settings.ts';
import type { Caller } from './caller.ts';
import { openWeather, rowsOf } from './varied.ts';

const READ = [
  '/profile',
  '/projects',
  '/projects/alpha/servers',
  '/projects/alpha/build_configurations/build',
  '/hosted_resources',
  '/managed_hosting/regions',
  '/managed_hosting/sizes',
];

async function readAll(caller: Caller) {
  const answers = [];
  for (const path of READ) answers.push((await caller.get(path)).body);
  // Keys and times are made up at every start.
  const text = JSON.stringify(answers, (key, value) =>
    /_key|key_|_at$|url$|revision|^(?:fingerprint|identifier|title)$/.test(key) ? 'made up' : value,
  );
  return text;
}

test('is the same for the same seed at every start, and another for another', async () => {
  const [first, again, other] = await Promise.all(
    ['seven', 'seven', 'eight'].map((seed) => openWeather({ strength: 'wild', seed })),
  );
  const text = await readAll(first?.caller as Caller);
  expect(await readAll(again?.caller as Caller)).toBe(text);
  expect(await readAll(other?.caller as Caller)).not.toBe(text);
});

test('shows a record the same in its list and by itself', async () => {
  const only: Kind[] = ['absent', 'nulls', 'types', 'extra', 'times'];
  const { caller } = await openWeather({ strength: 'wild', share: 0.5, only });
  const listed = rowsOf((await caller.get('/projects/alpha/servers')).body);
  expect(listed).toHaveLength(4);
  for (const row of listed) {
    expect((await caller.get(`/projects/alpha/servers/${row.identifier}`)).body).toEqual(row);
  }
});

test('never takes away what makes a record a record', async () => {
  for (const seed of ['1', '2', '3']) {
    const { caller } = await openWeather({ strength: 'wild', seed, share: 1, only: ['absent', 'nulls'] });
    for (const project of rowsOf((await caller.get('/projects')).body)) {
      expect(project).toMatchObject({ name: expect.any(String), permalink: expect.any(String) });
    }
    for (const resource of rowsOf((await caller.get('/hosted_resources')).body)) {
      expect(resource).toMatchObject({ identifier: expect.any(String), status: 'active' });
    }
  }
});

test('what the specification puts in an order stays in it', async () => {
  const { service, caller } = await openWeather();
  const newestFirst = (rows: Record<string, unknown>[]) => {
    const times = rows.map(({ created_at: at }) => Date.parse(String(at)));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  };
  for (const seed of Array.from({ length: 10 }, (_, n) => n)) {
    service.weather.set({ strength: 'wild', seed, share: 1, only: ['order', 'events', 'times'] });
    newestFirst(rowsOf((await caller.get('/account/invoices')).body));
    newestFirst(rowsOf((await caller.get('/activity')).body));
  }
});

test.each(['spec', 'wild'] as const)(
  'a refused form says which fields, once or twice, in %s weather',
  async (strength) => {
    const { service, caller } = await openWeather();
    const forms = new Set<string>();
    for (const seed of Array.from({ length: 20 }, (_, n) => n)) {
      service.weather.set({ strength, seed, share: 0.7, only: ['failures', 'doubled'] });
      const { status, body } = await caller.post('/projects/alpha/servers', {
        server: { protocol_type: 'ssh' },
      });
      expect(status).toBe(422);
      expect(JSON.stringify(body)).toContain("can't be blank");
      forms.add(Object.keys(body).join());
    }
    expect(forms).toEqual(new Set(strength === 'spec' ? ['name'] : ['name', 'errors', 'error']));
  },
);

const row = (sign: (row: Record<string, unknown>) => boolean) => (body: unknown) => rowsOf(body).some(sign);
const has = (field: string) => (body: unknown) => Object.hasOwn(body as object, field);
const says = (text: string) => (body: unknown) => JSON.stringify(body).includes(text);

/** What a person would see of each kind, over a few seeds, when nothing else varies. */
const SEEN: ReadonlyArray<[what: string, kind: Kind, path: string, sign: (body: unknown) => boolean]> = [
  ['a project without its star', 'absent', '/projects', row((one) => !('starred' in one))],
  ['an invoice without its tax', 'absent', '/account/invoices', row((one) => !('vat' in one))],
  [
    'statistics without an average',
    'absent',
    '/activity?include=stats',
    (body) => !says('avg_duration')(body),
  ],
  ['a machine without a size', 'nulls', '/hosted_resources', row(({ size }) => size === null)],
  ['a port as text', 'types', '/projects/alpha/servers', row(({ port }) => port === '22')],
  ['an empty notify_email', 'types', '/projects/alpha/servers', row((one) => one.notify_email === '')],
  [
    'an address to notify',
    'types',
    '/projects/alpha/servers',
    row((one) => /@/.test(String(one.notify_email))),
  ],
  ['no notify_email at all', 'types', '/projects/alpha/servers', row((one) => !('notify_email' in one))],
  ['a price as text', 'types', '/hosted_resources', row((one) => one.monthly_cost === '8')],
  ['a total as a number', 'types', '/account/invoices', row(({ total }) => total === 49)],
  ['fields that no document names', 'extra', '/profile', has('legacy_id')],
  ['a time with an offset', 'times', '/hosted_resources', says('+02:00')],
  ['projects in another order', 'order', '/projects', (body) => rowsOf(body)[0]?.name !== 'alpha'],
  ['null among the projects', 'odd_rows', '/projects', (body) => (body as unknown[]).includes(null)],
  ['no number', 'odd_rows', '/account/invoices', row((one) => 'kind' in one && !('number' in one))],
  ['a word among the events', 'odd_rows', '/activity', (body) => (body as unknown[]).includes('gone')],
  ['a queued deployment', 'events', '/activity', row(({ event }) => event === 'deploy_queued')],
  ['an event of an unknown type', 'events', '/activity', row(({ event }) => event === 'config_file_rotated')],
  ['bare regions', 'shapes', '/managed_hosting/regions', Array.isArray],
  ['grouped regions', 'shapes', '/managed_hosting/regions', has('grouped_regions')],
  ['a full region', 'shapes', '/managed_hosting/regions', says('"available":false')],
  ['bare sizes', 'shapes', '/managed_hosting/sizes', Array.isArray],
  ['a static site among machines', 'shapes', '/hosted_resources', row(({ kind }) => kind === 'static_site')],
  ['projects under their name', 'shapes', '/projects', has('projects')],
  ['no list of servers', 'shapes', '/projects/alpha/servers', says('"error_code":"invalid_api_method"')],
  ['no feed', 'not_found', '/activity', says('"error_code":"record_not_found"')],
  ['the status as a number', 'failures', '/hosted_resources/none', says('"status":404')],
  ['the hint as the message too', 'doubled', '/hosted_resources/none', has('error')],
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
