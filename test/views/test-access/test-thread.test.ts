import { expect, it } from 'vitest';
import { listNews } from '../../../src/views/test-access/test-thread.ts';

it('the thread of a run of 1,000 servers names each that fails in few replies, fifty of them with a button', () => {
  const servers = Array.from({ length: 1_000 }, (_, at) => {
    const status = at % 10 === 0 ? ('error' as const) : ('ok' as const);
    return {
      name: `web-${at}`,
      identifier: `s${at}`,
      status,
      message: status === 'ok' ? null : `refused ${at}`,
    };
  });
  const target = { account: 'acme', project: { permalink: 'storefront', name: 'Storefront' } };
  const run = { status: 'completed', completed_at: null, results: { servers } };
  const news = listNews(target, run, 'compact');
  expect(news.length).toBeLessThan(70);
  const all = JSON.stringify(news.map(({ message }) => message.blocks));
  for (const { name, status } of servers)
    expect(all).toContain(status === 'error' ? `*${name}*` : `"${name}"`);
  expect(all).toContain('refused 990');
  expect(all.split('Test this server again')).toHaveLength(51);
});

it('the thread of a run with more than ten results has them in a table', () => {
  const servers = Array.from({ length: 11 }, (_, at) => {
    const failed = { status: 'error' as const, message: 'refused' };
    return {
      name: `web-${at}`,
      identifier: `s${at}`,
      ...(at === 3 ? failed : { status: 'ok' as const, message: null }),
    };
  });
  const target = { account: 'acme', project: { permalink: 'storefront', name: 'Storefront' } };
  const [first, second] = listNews(
    target,
    {
      status: 'completed',
      completed_at: null,
      results: { servers, repository: { status: 'ok', message: null } },
    },
    'compact',
  );
  expect(first?.message.text).toBe('All 12 results');
  const [, table] = first?.message.blocks ?? [];
  expect(table).toMatchObject({ type: 'data_table', page_size: 10 });
  expect(JSON.stringify(table)).toContain(
    '"web-3"},{"type":"raw_text","text":"unreachable"},{"type":"raw_text","text":"refused"',
  );
  expect(second?.message.text).toContain('*web-3* is unreachable');
});
