import { expect, it } from 'vitest';
import { createPages } from '../../src/service/addresses.ts';
import { projectLink, serverLink } from '../../src/views/blocks/page-links.ts';
import { describeEpisode } from '../../src/views/episodes/describe-episode.ts';
import { outageReply, type ShownMember } from '../../src/views/episodes/outage.ts';

const pages = createPages('https://{account}.example.com');

it('names a project and a server as links to their pages', () => {
  expect(projectLink(pages, 'acme', { name: 'Shop', permalink: 'shop' })).toBe(
    '<https://acme.example.com/projects/shop|*Shop*>',
  );
  const place = { account: 'acme', permalink: 'shop' };
  expect(serverLink(pages, place, { name: 'web-1', identifier: 'a/b|c>' })).toBe(
    '<https://acme.example.com/projects/shop/servers/a%2Fb%7Cc%3E|*web-1*>',
  );
});

it('shows a name letter for letter beside its link, and alone if it has no page', () => {
  const name = '_shop_ <!channel>';
  const linked = projectLink(pages, 'acme', { name, permalink: 'shop' });
  expect(linked).toContain('&lt;!channel&gt;');
  expect(linked.endsWith('(<https://acme.example.com/projects/shop|open>)')).toBe(true);
  expect(projectLink(pages, 'acme', { name: 'Shop' })).toBe('*Shop*');
  expect(projectLink(undefined, 'acme', { name: 'Shop', permalink: 'shop' })).toBe('*Shop*');
});

it('links no project of an outage whose name another one has', () => {
  const member = (name: string, project: string): ShownMember => ({
    subject: {
      kind: 'deployments',
      channel: 'C1',
      account: 'acme',
      project,
      name,
      permalink: project,
      pages,
    },
    episode: {
      id: project,
      since: 0,
      latestAt: 0,
      newsAt: 0,
      failures: 1,
      first: [],
      latest: [],
      replies: [],
    },
  });
  const members = [member('Shop', 'shop'), member('Shop', 'shop-2'), member('Search', 'search')];
  const joined = ['Shop', 'Search'];
  const reply = outageReply({ name: 'members 1', kind: 'members', joined }, members);
  expect(JSON.stringify(reply.blocks)).toContain(
    'Shop and <https://acme.example.com/projects/search|Search>',
  );
  expect(JSON.stringify(reply.blocks)).not.toContain('projects/shop');
});

it('links the servers of a failure that a test has reached', () => {
  const subject = {
    kind: 'reachability',
    channel: 'C1',
    account: 'acme',
    project: 'shop',
    name: 'Shop',
  } as const;
  const items = [
    { key: 'repository', title: 'Repository', message: null },
    { key: 'server:srv-1', title: 'web-1', message: 'Refused' },
  ];
  const times = { since: 0, latestAt: 0, newsAt: 0 };
  const episode = { id: 'e', ...times, failures: 1, first: [], latest: [], replies: [], items };
  const shown = { ...subject, permalink: 'shop', pages };
  const server = '<https://acme.example.com/projects/shop/servers/srv-1|web-1>';
  const { title } = describeEpisode(shown, episode);
  expect(title).toContain(`the repository and ${server} are unreachable since`);
  const ending = { kind: 'recovered', at: 60_000 } as const;
  expect(describeEpisode(shown, { ...episode, allItems: items, ending }).more).toContain(server);
  // A project that is known by its name alone has no pages.
  expect(describeEpisode({ ...subject, pages }, episode).title).not.toContain('<https');
});
