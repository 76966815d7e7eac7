import { expect, test } from 'vitest';
import { getActivity, isTruncated } from '../../src/service/activity.ts';
import type { AccountClient } from '../../src/service/client.ts';
import { listInvoices } from '../../src/service/invoices.ts';
import { getTestAccess, listProjects } from '../../src/service/projects.ts';
import { listHostedResources } from '../../src/service/servers.ts';
import { openWire } from './wire.ts';

const event = (at: number, servers: readonly string[] = ['web-1']) => ({
  event: 'deploy_completed',
  properties: { end_ref: `r${at}`, servers },
  project: { name: 'Store', permalink: 'store', identifier: 'p-1' },
  user: 'Ada',
  created_at: new Date(Date.UTC(2026, 0, 5) - at * 60_000).toISOString(),
});
const many = <T>(amount: number, item: (at: number) => T): T[] =>
  Array.from({ length: amount }, (_, at) => item(at));

test.each([3_000, 18_000])('the newest 100 events are read of a feed of %i', async (amount) => {
  await using wire = await openWire({ 'GET /acme/activity': [{ json: many(amount, (at) => event(at)) }] });
  const activity = await getActivity(wire.account);
  expect(activity.events.map(({ properties }) => properties.end_ref)).toEqual(many(100, (at) => `r${at}`));
  expect(isTruncated(activity)).toBe(true);
});

const names = many(200_000, (at) => `web-${at}`);

test.each<[string, string, unknown, (account: AccountClient) => Promise<unknown>]>([
  ['projects', 'projects.json', many(1_000_000, () => 0), listProjects],
  ['projects under a key', 'projects.json', { data: many(500_000, () => ({})) }, listProjects],
  ['invoices', 'account/invoices', { invoices: many(1_000_000, () => 0) }, listInvoices],
  ['managed servers', 'hosted_resources', many(500_000, () => ({})), listHostedResources],
  ['events', 'activity', many(500_000, () => ({})), (account) => getActivity(account)],
  ['servers in an event', 'activity', [event(0, names)], (account) => getActivity(account)],
  [
    'results of a test',
    'projects/store/test_access/t1',
    { identifier: 't1', status: 'completed', results: { servers: many(1_000_000, () => 0) } },
    (account) => getTestAccess(account, 'store', 't1'),
  ],
])('%s without end cost little', async (_, path, json, read) => {
  await using wire = await openWire({ [`GET /acme/${path}`]: [{ json }] });
  const before = process.cpuUsage();
  await read(wire.account);
  // A tenth of a second, and the time to send and parse 5 MB. Reading every row takes many seconds.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_500);
});
