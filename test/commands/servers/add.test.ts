import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { sendPayload } from '../../support/signed.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM } from '../../support/test-world.ts';
import {
  ann,
  confirmSite,
  open,
  openFilled,
  POST,
  posts,
  roots,
  SITE,
  shows,
  test,
  thread,
  view,
} from './ordering.ts';

describe('server add', () => {
  test('makes a static site: previewed, confirmed, shown and followed to its address', async ({ world }) => {
    await openFilled(world);
    await ann(world).click(
      { viewId: ann(world).openView()?.id ?? '' },
      { actionId: 'subdomain', selected: 'https://Shop-Front.sites.example.net' },
    );
    await shows(world, 'The address will be `https://shop-front.sites.example.net`');
    await ann(world).submit('server.add', { ...SITE, spa_mode: ['true'] });
    await shows(world, '*Address*  `https://shop-front.sites.example.net`');
    expect(posts(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await shows(world, 'The service has accepted the order');
    expect(posts(world).map(({ body }) => body)).toEqual([
      {
        server: { name: 'shop', protocol_type: 'static_hosting' },
        hosted_website_attributes: { subdomain: 'shop-front', spa_mode: true },
      },
    ]);
    expect(roots(world)[0]?.text).toContain('Server shop in Storefront is being created');
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes('is active') === true);
    await world.slack.until(() => thread(world).length === 2);
    expect(thread(world)[0]).toContain('accepted the order for shop');
    const [, ready] = world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');
    expect(JSON.stringify(ready?.blocks)).toContain(
      'running and ready for deployments, at https://shop-front.sites.example.net',
    );
    expect(JSON.stringify(roots(world)[0]?.blocks)).toContain('"url":"https://shop-front.sites.example.net"');
    expect(roots(world)).toHaveLength(1);
  });

  test('makes a managed server, with its price and the names of region and size', async ({ world }) => {
    await openFilled(world);
    await ann(world).click(
      { viewId: ann(world).openView()?.id ?? '' },
      { actionId: 'protocol_type', selected: 'managed_vps' },
    );
    await shows(world, '2 vCPU, 4 GB, 24.00 USD a month');
    await ann(world).submit('server.add', { name: 'box', region: 'fra1', size: 'medium' });
    await shows(world, '*Price*  *24.00 USD a month*');
    expect(posts(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    expect(posts(world)[0]?.body).toEqual({
      server: { name: 'box', protocol_type: 'managed_vps' },
      region: 'fra1',
      size: 'medium',
    });
    world.service.clock.advance(20_000);
    await world.slack.until(() => roots(world)[0]?.text.includes('is active') === true);
    const root = JSON.stringify(roots(world)[0]?.blocks);
    expect(root).toMatch(/\*IP address\* {2}`203\.0\.113\.\d+`/);
    expect(root).toContain('*Region*  Frankfurt\\n*Size*  2 vCPU, 4 GB\\n*Price*  24.00 USD a month');
    expect(root).toContain('Test this server');
  });

  test('takes all fields of a kind that was picked with them', async ({ world }) => {
    await openFilled(world);
    const { id, content } = ann(world).openView() ?? {};
    const fields = {
      name: { type: 'plain_text_input', value: 'box' },
      protocol_type: { type: 'static_select', selected_option: { value: 'managed_vps' } },
      region: { type: 'static_select', selected_option: { value: 'fra1' } },
      size: { type: 'static_select', selected_option: { value: 'medium' } },
    };
    const values = Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [field, { [field]: value }]),
    );
    const { text } = await sendPayload(world, {
      type: 'view_submission',
      team: { id: TEAM },
      user: { id: PEOPLE.admin, team_id: TEAM },
      trigger_id: '1.2.all-at-once',
      view: { ...content, id, hash: 'h1', state: { values } },
    });
    expect(text).toContain('*Price*  *24.00 USD a month*');
  });

  test('is offered if the profile does not say whether the account is in the beta', async ({ world }) => {
    const body = { email_address: EMAIL, account: { name: 'Acme', permalink: ACCOUNT } };
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 200, body });
    await openFilled(world);
    const answer = await ann(world).submit('server.add', SITE);
    expect(answer.body).toContain('Create this server?');
    expect(await ask(world, '/deckhand beta')).toContain('*Static hosting*  not given by the service');
  });

  test('asks for the project where several could be meant, and goes back to change something', async ({
    world,
  }) => {
    await openFilled(world, '/deckhand server add');
    const place = { viewId: ann(world).openView()?.id ?? '' };
    await ann(world).suggest(place, { actionId: 'project', query: 'store' });
    await ann(world).submit('server.add', { ...SITE, project: 'storefront' });
    await shows(world, '*Project*  Storefront in `acme`');
    await ann(world).click({ viewId: ann(world).openView()?.id ?? '' }, { actionId: 'server.add:back' });
    await shows(world, '"initial_value":"shop-front"');
    await ann(world).submit('server.add', { name: 'other' });
    await shows(world, '*Name*  other');
    expect(posts(world)).toHaveLength(0);
  });

  test('refuses an address that is no label, and a name of spaces, under their fields', async ({ world }) => {
    await openFilled(world);
    const { errors } = await ann(world).submit('server.add', { name: '   ', subdomain: '-shop' });
    expect(errors).toEqual({
      subdomain: expect.stringContaining('Use letters, digits and hyphens'),
      name: 'Give the server a name.',
    });
  });

  test('brings the form back with the service’s faults under their fields, and creates once it is right', async ({
    world,
  }) => {
    const { service } = world;
    service.faults.add({
      ...POST,
      status: 422,
      body: { subdomain: ['has <already> been taken'], base: ['Plan & limit'] },
      times: 1,
    });
    await confirmSite(world);
    await ann(world).submit('server.add');
    await shows(world, '"block_id":"subdomain:error"');
    expect(view(world)).toContain('has &lt;already&gt; been taken');
    expect(view(world)).toContain('Plan &amp; limit');
    expect(view(world)).toContain('"initial_value":"shop-front"');
    await ann(world).submit('server.add', { subdomain: 'shop-two' });
    await shows(world, 'Create this server?');
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    expect(posts(world)).toHaveLength(2);
    expect(service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers).toHaveLength(3);
  });

  test.for([
    ['admin', '"block_id":"subdomain"', true],
    ['member', 'Only an administrator of the account', false],
  ] as const)(
    'offers to enrol in the beta in place, with the key of an %s',
    async ([role, words, isEnrolled], { world }) => {
      world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
      world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, role });
      await open(world);
      await shows(world, 'is not enrolled');
      const viewId = ann(world).openView()?.id ?? '';
      await ann(world).click({ viewId }, { actionId: 'server.add:enroll' });
      await shows(world, words);
      expect(world.service.world.state.accounts.get(ACCOUNT)?.betaFeatures).toBe(isEnrolled);
      expect(view(world).includes(`${world.service.origin}/${ACCOUNT}/beta_features`)).toBe(!isEnrolled);
    },
  );
});
