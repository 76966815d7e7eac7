import { expect, test } from 'vitest';
import { getActivity, isTruncated } from '../../src/service/activity.ts';
import type { ListOptions, SkippedRows } from '../../src/service/call.ts';
import type { AccountClient } from '../../src/service/client.ts';
import { listInvoices } from '../../src/service/invoices.ts';
import { getTestAccess, listProjects } from '../../src/service/projects.ts';
import { listHostedResources } from '../../src/service/servers.ts';
import { byLength } from '../support/length.ts';
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

test('the first 100 servers of an event are read', async () => {
  const json = [
    event(
      0,
      many(200_000, (at) => `web-${at}`),
    ),
  ];
  await using wire = await openWire({ 'GET /acme/activity': [{ json }] });
  const { events } = await getActivity(wire.account);
  expect(events.map(({ properties }) => properties.servers.length)).toEqual([100]);
});

const TOO_MANY = byLength(40_000, 140_000);
const rows = many(TOO_MANY, () => ({}));

test.each<[string, string, unknown, (account: AccountClient, options: ListOptions) => Promise<unknown>]>([
  ['projects', 'projects.json', rows, listProjects],
  ['projects under a key', 'projects.json', { data: rows }, listProjects],
  ['invoices', 'account/invoices', { invoices: rows }, listInvoices],
  ['managed servers', 'hosted_resources', rows, listHostedResources],
  [
    'results of a test',
    'projects/store/test_access/t1',
    { identifier: 't1', status: 'completed', results: { servers: rows } },
    async (account, { skipped }) => {
      const { results } = await getTestAccess(account, 'store', 't1');
      skipped?.push(...(results?.skipped ?? []));
    },
  ],
])('30,000 of many more %s are read, and the others are counted', async (_, path, json, read) => {
  await using wire = await openWire({ [`GET /acme/${path}`]: [{ json }] });
  const skipped: SkippedRows[] = [];
  await read(wire.account, { skipped });
  expect(skipped.map(({ count }) => count)).toEqual([TOO_MANY - 30_000, 30_000]);
});

test.each([
  ['lists in lists', '['.repeat(2_500_000) + ']'.repeat(2_500_000)],
  ['empty objects', `[${'{},'.repeat(1_700_000)}{}]`],
  ['numbers', `[${'0,'.repeat(2_500_000)}0]`],
])('an answer of 5 MB of %s is not parsed', async (_, body) => {
  await using wire = await openWire({ 'GET /acme/projects.json': [{ raw: body }] });
  const failure = { kind: 'unexpected', fault: 'too_large', status: 200 };
  await expect(listProjects(wire.account)).rejects.toMatchObject(failure);
});
