import { expect, test } from 'vitest';
import type { Kind, NewWeather } from '../../service/weather/settings.ts';
import { startBench } from './caller.ts';

const ADA = { email: 'ada@example.com', apiKey: 'k'.repeat(40) };
const DAY = 86_400_000;
const SERVERS = '/projects/alpha/servers';

/** An account with a little of everything, the same at every start. */
async function openWeather(weather?: NewWeather) {
  const bench = await startBench(weather && { weather });
  const names = ['alpha', 'beta', 'gamma', 'delta'];
  const now = bench.service.clock.now();
  bench.service.world.addAccount({
    name: 'acme',
    users: [{ ...ADA, role: 'admin', billing: true }],
    projects: names.map((name) => ({
      name,
      servers: names.map((server) => ({ name: server })),
      buildConfigurations: [{ identifier: 'build' }],
    })),
    hostedResources: names.map((name) => ({ name, identifier: name })),
    deployments: [0, 1, 2, 3, 4].map((n) => ({
      project: 'alpha',
      succeeded: n % 2 === 0,
      endedAt: now - n * 1_000,
    })),
    invoices: [{ createdAt: now - DAY }, {}],
  });
  const caller = bench.unchecked('acme', ADA);
  const read = async (path: string) => (await caller.get(path)).body;
  /** What comes of `only` these kinds, in as many weathers as it takes. */
  async function* draw<T>(count: number, only: Kind[], look: () => Promise<T>) {
    for (let seed = 0; seed < count; seed += 1) {
      bench.service.weather.set({ strength: 'wild', seed, share: 1, only });
      yield await look();
    }
  }
  return { ...bench, caller, read, draw };
}

function rowsOf(body: unknown): Record<string, unknown>[] {
  const rows = Array.isArray(body) ? body : Object.values(body as object)[0];
  return rows.filter((row: unknown) => typeof row === 'object' && row !== null);
}

test('is the same for the same seed at every start, and another for another', async () => {
  const paths = ['/profile', '/projects', SERVERS, '/projects/alpha/build_configurations/build'];
  const all = [...paths, '/hosted_resources', '/managed_hosting/regions', '/managed_hosting/sizes'];
  const readAll = async (seed: string) => {
    const { read } = await openWeather({ strength: 'wild', seed });
    const answers = [];
    for (const path of all) answers.push(await read(path));
    // Keys and times are made up at every start.
    return JSON.stringify(answers, (key, value) =>
      /_key|key_|_at$|url$|revision|^(?:fingerprint|identifier|title)$/.test(key) ? 'made up' : value,
    );
  };
  const [first, again, other] = await Promise.all(['seven', 'seven', 'eight'].map(readAll));
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('shows a record the same in its list and by itself', async () => {
  const only: Kind[] = ['absent', 'nulls', 'types', 'extra', 'times'];
  const { read } = await openWeather({ strength: 'wild', share: 0.5, only });
  const listed = rowsOf(await read(SERVERS));
  expect(listed).toHaveLength(4);
  for (const row of listed) expect(await read(`${SERVERS}/${row.identifier}`)).toEqual(row);
});

test('never takes away what makes a record a record, and keeps the order of the specification', async () => {
  const { draw, read } = await openWeather();
  const look = async (path: string) => rowsOf(await read(path));
  for await (const projects of draw(3, ['absent', 'nulls'], () => look('/projects')))
    for (const one of projects)
      expect(one).toMatchObject({ name: expect.any(String), permalink: expect.any(String) });
  for await (const resources of draw(3, ['absent', 'nulls'], () => look('/hosted_resources')))
    for (const one of resources)
      expect(one).toMatchObject({ identifier: expect.any(String), status: 'active' });
  for (const path of ['/account/invoices', '/activity'])
    for await (const rows of draw(10, ['order', 'events', 'times'], () => look(path))) {
      const times = rows.map(({ created_at: at }) => Date.parse(String(at)));
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    }
});

test.each([
  ['spec', ['name']],
  ['wild', ['name', 'errors', 'error']],
] as const)('a refused form in %s weather names its fields in %j', async (strength, expected) => {
  const { service, caller } = await openWeather();
  const forms = new Set<string>();
  for (let seed = 0; seed < 20; seed += 1) {
    service.weather.set({ strength, seed, share: 0.7, only: ['failures', 'doubled'] });
    const { status, body } = await caller.post(SERVERS, { server: { protocol_type: 'ssh' } });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("can't be blank");
    forms.add(Object.keys(body).join());
  }
  expect(forms).toEqual(new Set(expected));
});

const row = (sign: (row: Record<string, unknown>) => boolean) => (body: unknown) => rowsOf(body).some(sign);
const has = (field: string) => (body: unknown) => Object.hasOwn(body as object, field);
const says = (text: string) => (body: unknown) => JSON.stringify(body).includes(text);
const mails = (sign: (to: unknown) => boolean) => row(({ notify_email: to }) => sign(to));

/** What a person would see of each kind, over a few seeds, when nothing else varies. */
const SEEN: ReadonlyArray<[what: string, kind: Kind, path: string, sign: (body: unknown) => boolean]> = [
  ['a project without its star', 'absent', '/projects', row((one) => !('starred' in one))],
  ['an invoice without its tax', 'absent', '/account/invoices', row((one) => !('vat' in one))],
  ['no average', 'absent', '/activity?include=stats', (body) => !says('avg_duration')(body)],
  ['a machine without a size', 'nulls', '/hosted_resources', row(({ size }) => size === null)],
  ['a port as text', 'types', SERVERS, row(({ port }) => port === '22')],
  ['an empty notify_email', 'types', SERVERS, mails((to) => to === '')],
  ['an address to notify', 'types', SERVERS, mails((to) => /@/.test(String(to)))],
  ['no notify_email at all', 'types', SERVERS, mails((to) => to === undefined)],
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
  ['no list of servers', 'shapes', SERVERS, says('"error_code":"invalid_api_method"')],
  ['no feed', 'not_found', '/activity', says('"error_code":"record_not_found"')],
  ['the status as a number', 'failures', '/hosted_resources/none', says('"status":404')],
  ['the hint as the message too', 'doubled', '/hosted_resources/none', has('error')],
];

test.each(SEEN)('brings %s', async (_, kind, path, sign) => {
  const { draw, read } = await openWeather();
  for await (const body of draw(40, [kind], () => read(path))) if (sign(body)) return;
  expect.fail('in none of 40 weathers');
});
