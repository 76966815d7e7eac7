import { describe, expect, test } from 'vitest';
import type { SkippedRows } from '../../src/service/call.ts';
import { getTestAccess, hasEnded, listProjects, startTestAccess } from '../../src/service/projects.ts';
import { failure, openWire, type Reply } from './wire.ts';

describe('projects', () => {
  const STORE = {
    name: 'Store',
    permalink: 'store',
    identifier: 'p-1',
    last_deployed_at: '2026-01-01T00:00:00Z',
  };
  const BLOG = { name: 'Blog', permalink: 'blog', identifier: 'p-2', starred: true, repository: null };

  test('starred ones come first, and nothing secret comes along', async () => {
    const json = [{ ...STORE, auto_deploy_url: 'https://acme.example.com/deploy/secret' }, BLOG];
    await using wire = await openWire({ 'GET /acme/projects.json': [{ json }] });
    expect(await listProjects(wire.account)).toEqual([
      { name: 'Blog', permalink: 'blog', identifier: 'p-2', starred: true, last_deployed_at: undefined },
      { ...STORE, starred: false },
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ['an older answer without identifiers', [{ name: 'Store', permalink: 'store' }], { permalink: 'store' }],
    ['one without permalinks', [{ name: 'Store', identifier: 'p-1' }], { permalink: 'p-1' }],
    ['a list under its own key', { projects: [STORE] }, { name: 'Store' }],
    ['data with paging', { data: [STORE], meta: { total_count: '1' }, links: {} }, { name: 'Store' }],
    ['items within their key', { projects: { items: [STORE], total: 40 } }, { name: 'Store' }],
    ['a project that is listed twice', [STORE, STORE], { name: 'Store' }],
    ['odd dates', [{ ...STORE, last_deployed_at: 'yesterday' }], { last_deployed_at: undefined }],
  ])('%s is understood', async (_what, json, project) => {
    await using wire = await openWire({ 'GET /acme/projects.json': [{ json }] });
    expect(await listProjects(wire.account)).toMatchObject([project]);
  });

  const OTHER = { ...STORE, name: 'Other', permalink: 'other', identifier: 'p-2' };
  const FIRST = 'GET /acme/projects.json';
  const SECOND = 'GET /acme/projects.json?page=2';

  test.each<[string, Reply, Reply]>([
    [
      'pagination in the body',
      { json: { records: [STORE], pagination: { current_page: 1, total_pages: 2, total_records: 2 } } },
      { json: { records: [OTHER], pagination: { current_page: 2, total_pages: 2, total_records: 2 } } },
    ],
    ['a total alone', { json: { projects: [STORE], total_count: 2 } }, { json: { projects: [OTHER] } }],
    [
      'a next page',
      { json: { data: [STORE], meta: { next_page: 2 } } },
      { json: { data: [OTHER], meta: {} } },
    ],
    [
      'the number of pages in a header',
      { json: [STORE], headers: { 'X-Total-Pages': '2', 'X-Page': '1' } },
      { json: [OTHER], headers: { 'X-Total-Pages': '2', 'X-Page': '2' } },
    ],
    ['a next page in a header', { json: [STORE], headers: { 'X-Next-Page': '2' } }, { json: [OTHER] }],
    [
      'a link, of whose address only the query is taken',
      {
        json: [STORE],
        headers: { link: '</x?page=1>; rel="prev", <https://evil.example/?page=2>; rel="next"' },
      },
      { json: [OTHER], headers: { link: '</x?page=1>; rel="prev"' } },
    ],
  ])('all pages are read: %s', async (_what, first, second) => {
    await using wire = await openWire({ [FIRST]: [first], [SECOND]: [second] });
    const skipped: SkippedRows[] = [];
    expect(await listProjects(wire.account, { skipped })).toMatchObject([STORE, OTHER]);
    expect(skipped).toEqual([]);
  });

  const partial = { json: { records: [STORE], pagination: { total_pages: 3, total_records: 3 } } };
  test.each<[string, Reply]>([
    ['sends the same page again', partial],
    ['does not know another page', { status: 404, json: {} }],
    ['refuses another page', { status: 422, json: { page: ['is odd'] } }],
  ])('a service that %s: the list says how many projects are missing', async (_what, second) => {
    await using wire = await openWire({ [FIRST]: [partial], [SECOND]: [second] });
    const skipped: SkippedRows[] = [];
    expect(await listProjects(wire.account, { skipped })).toHaveLength(1);
    expect(skipped).toMatchObject([{ operation: 'listProjects', count: 2, isUnlisted: true }]);
  });

  test('a list without end is read for a hundred pages', async () => {
    const page = (at: number) => ({
      json: { records: [{ ...STORE, identifier: `p-${at}` }], meta: { next_page: at + 1 } },
    });
    const more = Array.from({ length: 99 }, (_, at) => [`${FIRST.slice(4)}?page=${at + 2}`, at + 2] as const);
    const script = Object.fromEntries(more.map(([url, at]) => [`GET ${url}`, [page(at)]]));
    await using wire = await openWire({ [FIRST]: [page(1)], ...script });
    const skipped: SkippedRows[] = [];
    expect(await listProjects(wire.account, { skipped })).toHaveLength(100);
    expect(skipped).toMatchObject([{ isUnlisted: true }]);
  });
});

describe('test access', () => {
  const RUN = {
    identifier: 'r-1',
    status: 'running',
    created_at: '2026-01-05T12:00:00Z',
    completed_at: null,
  };
  const END = '2026-01-05T12:00:30Z';
  const GET = 'GET /acme/projects/store/test_access/r-1';
  const ok = { name: 'web-1', identifier: 's-1', status: 'ok', message: null };
  const bad = { name: 'web-2', identifier: 's-2', status: 'error', message: 'Connection refused' };

  test('a whole project and one server are started with an empty object, because a body is JSON', async () => {
    await using wire = await openWire({
      'POST /acme/projects/store/test_access': [{ json: RUN }],
      'POST /acme/projects/store/servers/s-1/test_access': [
        { status: 201, json: { ...RUN, status: 'pending' } },
      ],
    });
    const started = { ...RUN, results: undefined };
    expect(await startTestAccess(wire.account, 'store')).toEqual(started);
    expect(await startTestAccess(wire.account, 'store', 's-1')).toEqual({ ...started, status: 'pending' });
    expect(wire.requests.map((request) => request.body)).toEqual(['{}', '{}']);
  });

  test.each<[string, object, unknown]>([
    [
      'a list with paging beside it',
      { status: 'completed', completed_at: END, results: { servers: { records: [ok, bad], page: 1 } } },
      { servers: [ok, bad] },
    ],
    ['failed without results', { status: 'failed', completed_at: END }, undefined],
    [
      'running, with early news',
      { results: { repository: { status: 'pending' }, servers: [ok, bad, { ...bad, status: 'waiting' }] } },
      { servers: [ok, bad] },
    ],
    [
      'ended, with an error that has no message and a word that nothing describes',
      {
        status: 'completed',
        completed_at: END,
        results: { repository: { status: 'error', message: null }, servers: [{ ...ok, status: 'waiting' }] },
      },
      {
        repository: { status: 'error', message: null },
        servers: [{ ...ok, status: 'error', message: 'the service says “waiting”' }],
      },
    ],
  ])('results: %s', async (_what, change, results) => {
    await using wire = await openWire({ [GET]: [{ json: { ...RUN, ...change } }] });
    const run = await getTestAccess(wire.account, 'store', 'r-1');
    expect(run.results).toEqual(results);
  });

  test.each<[string, string | null, boolean, string?]>([
    ['running', null, false],
    ['resting', null, false],
    ['completed', null, true],
    ['COMPLETED', null, true, 'completed'],
    ['running', END, true],
  ])(
    'a run that is “%s” with completed_at %s has ended: %s',
    async (status, completed_at, isOver, word = status) => {
      const results = { servers: [ok, { ...bad, status: 'waiting' }] };
      await using wire = await openWire({ [GET]: [{ json: { ...RUN, status, completed_at, results } }] });
      const run = await getTestAccess(wire.account, 'store', 'r-1');
      expect(run.status).toBe(word);
      expect(hasEnded(run)).toBe(isOver);
      expect(run.results?.servers).toHaveLength(isOver ? 2 : 1);
    },
  );

  test.each([{ status: '' }, { status: null }, { identifier: '' }])(
    '%j is unexpected: a run is never called better than it is',
    async (change) => {
      await using wire = await openWire({ [GET]: [{ json: { ...RUN, ...change } }] });
      expect(await failure(getTestAccess(wire.account, 'store', 'r-1'))).toMatchObject({
        kind: 'unexpected',
      });
    },
  );

  test('an item of an ended run that is neither ok nor error is an error that says so', async () => {
    const results = {
      servers: [
        { ...ok, status: 'maybe' },
        { ...ok, status: 'Success' },
        { name: 'web-2', status: 'ok' },
      ],
    };
    await using wire = await openWire({ [GET]: [{ json: { ...RUN, status: 'completed', results } }] });
    const run = await getTestAccess(wire.account, 'store', 'r-1');
    expect(run.results?.servers).toEqual([
      expect.objectContaining({ status: 'error', message: 'the service says “maybe”' }),
      expect.objectContaining({ status: 'ok' }),
      expect.objectContaining({ status: 'ok', identifier: 'web-2' }),
    ]);
  });

  test('an answer that cannot be read fails each time, and one that says what the last one said tells nothing else', async () => {
    const running = { json: { ...RUN, results: { servers: [ok] } } };
    const broken = { json: { ...RUN, status: '' } };
    await using wire = await openWire({ [GET]: [running, running, broken, broken, { json: RUN }] });
    const last = {};
    const look = () => getTestAccess(wire.account, 'store', 'r-1', {}, last);
    const first = await look();
    expect(first.results?.servers).toHaveLength(1);
    expect(await look()).toEqual(first);
    expect(await failure(look())).toMatchObject({ kind: 'unexpected' });
    expect(await failure(look())).toMatchObject({ kind: 'unexpected' });
    expect((await look()).results).toBeUndefined();
  });
});
