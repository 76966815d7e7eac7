import { describe, expect } from 'vitest';
import { test } from '../../support/fixtures.ts';
import { openBrowser } from '../../support/installing.ts';
import { PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const HELP = 'https://help.example.com/deckhand?a=1&b=2';

async function open(world: TestWorld, path: string) {
  const response = await fetch(`${world.origin}${path}`);
  const text = await response.text();
  const links = [...text.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, url, label]) => [label, url]);
  return { status: response.status, text, links, headers: response.headers };
}

test('the public pages say what Deckhand is and what is stored, offer no install, and run or load nothing', async ({
  world,
}) => {
  for (const [path, ...words] of [
    ['/', 'hosted deployment service'],
    ['/privacy', '400 days', '30 days', '7 days', 'encrypted', 'Uninstalling', 'API key'],
  ] as const) {
    const { status, headers, text } = await open(world, path);
    expect(status).toBe(200);
    for (const word of words) expect(text).toContain(word);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).not.toMatch(/<script|<img|<link|style="|\son\w+="/);
    expect(text).toContain('<html lang="en">');
  }
  expect((await open(world, '/')).links).toEqual([['Privacy', '/privacy']]);
  expect((await fetch(`${world.origin}/privacy`, { method: 'POST' })).status).toBe(405);
});

describe('where workspaces install by OAuth', () => {
  test.override('worldOptions', { byOauth: true, env: { SUPPORT_URL: HELP } });

  test('the front page leads to the install, every page to help, its end back into that workspace, and a failure to its start', async ({
    world,
  }) => {
    expect((await open(world, '/')).links).toEqual([
      ['Add to Slack', '/slack/install'],
      ['Privacy', '/privacy'],
      ['Get help', HELP.replace('&', '&amp;')],
    ]);
    for (const path of ['/privacy', '/slack/install', '/slack/oauth_redirect'])
      expect((await open(world, path)).text, path).toContain('Get help');
    const failed = await openBrowser(world).install(TEAM, PEOPLE.admin, { allow: false });
    expect(failed.text).toContain('<a href="/slack/install">Start over</a>');
    const end = await openBrowser(world).install(TEAM, PEOPLE.admin);
    expect(end.text).toContain(`<a href="slack://open?team=${TEAM}">Open Slack</a>`);
  });
});

describe('with a public address that has a path', () => {
  test.override('worldOptions', {
    byOauth: true,
    env: {
      PUBLIC_URL: 'https://tools.operator.test/a/deckhand/',
      SERVICE_OAUTH_CLIENT_ID: 'id',
      SERVICE_OAUTH_CLIENT_SECRET: 'secret',
    },
  });

  test('every page is found below its path, with a slash at the end too, and every link keeps the path', async ({
    world,
  }) => {
    for (const path of ['', '/', '/privacy', '/slack/install', '/service/oauth/start'])
      for (const written of [`/a/deckhand${path}`, path || '/']) {
        const page = await open(world, written);
        expect(page.headers.get('content-type'), written).toContain('text/html');
        expect((await open(world, `${written}/`.replace('//', '/'))).status, written).toBe(page.status);
        const own = page.links.flatMap(([, url = '']) => (url.startsWith('/') ? [url] : []));
        expect(own.filter((url) => !url.startsWith('/a/deckhand/'))).toEqual([]);
      }
    const front = await open(world, '/a/deckhand');
    expect(front.links).toEqual([
      ['Add to Slack', '/a/deckhand/slack/install'],
      ['Privacy', '/a/deckhand/privacy'],
    ]);
    const install = await open(world, '/a/deckhand/slack/install');
    const authorise = new URL(String(install.links[0]?.[1]).replaceAll('&amp;', '&'));
    expect(authorise.searchParams.get('redirect_uri')).toBe(
      'https://tools.operator.test/a/deckhand/slack/oauth_redirect',
    );
    // A proxy keeps metrics from the world by their exact path.
    for (const path of ['/metrics/', '/a/deckhand/metrics', '/a/deckhand/healthz'])
      expect((await open(world, path)).status, path).toBe(404);
  });
});
