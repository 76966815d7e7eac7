import { describe, expect } from 'vitest';
import { answerTo, ask, enroll } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('beta', () => {
  test.beforeEach(async ({ world }) => {
    world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    await world.connect();
  });

  const enrollments = (world: TestWorld) =>
    world.service.requests.all.filter(({ path }) => path === '/beta/enrollments');
  const isEnrolled = (world: TestWorld) => world.service.world.state.accounts.get(ACCOUNT)?.betaFeatures;

  test('beta shows the status with both flags, each by itself', async ({ world }) => {
    world.service.faults.add({
      path: `/${ACCOUNT}/profile`,
      status: 200,
      body: {
        email_address: EMAIL,
        account: {
          name: 'Acme',
          permalink: ACCOUNT,
          beta_features: true,
          managed_vps_eligible: false,
        },
      },
    });
    // The flag that is missing mirrors that of the beta.
    const said = await ask(world, '/deckhand beta');
    expect(said).toContain('beta is *on* for *Acme*');
    expect(said).toContain('*Static hosting*  :white_check_mark: eligible');
    expect(said).toContain('*Managed servers*  :x: not eligible');
  });

  test('beta offers an admin to enrol, and a member someone to ask', async ({ world }) => {
    expect(await ask(world, '/deckhand beta', 'admin')).toContain('"action_id":"beta:enroll"');
    const said = await ask(world, '/deckhand beta');
    expect(said).not.toContain('beta:enroll');
    expect(said).toContain('"type":"users_select"');
  });

  test('beta enrols with the protocol that is named, and says when nothing has changed, also with a member’s key', async ({
    world,
  }) => {
    const first = await enroll(world, 'static-hosting');
    expect(first).toContain('is enrolled in the managed-resources beta');
    expect(enrollments(world)[0]?.body).toEqual({ protocol: 'static_hosting' });
    expect(isEnrolled(world)).toBe(true);
    expect(await enroll(world)).toContain('is in the beta already');
    expect(await enroll(world, 'static_hosting')).toContain('is in the beta already');
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
    expect(await enroll(world)).toContain('is in the beta already');
    expect(enrollments(world)).toHaveLength(1);
  });

  test('beta enrols from the button, once that is confirmed', async ({ world }) => {
    const { slack } = world;
    await ask(world, '/deckhand beta', 'admin');
    const place = { channel: CHANNEL, ts: slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '' };
    const refused = await world.as('admin').click(place, { actionId: 'beta:enroll', confirm: false });
    expect(refused.outcome).toBe('denied');
    await world.as('admin').click(place, { actionId: 'beta:enroll' });
    await slack.until(() =>
      slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('is enrolled in')),
    );
    expect(enrollments(world)).toHaveLength(1);
  });

  test('beta enroll asks first, and enrols only once that is answered', async ({ world }) => {
    const said = await ask(world, '/deckhand beta enrol', 'admin');
    expect(said).toContain('Enrol the account `acme` in the managed-resources beta?');
    expect(said).toContain('It cannot be undone');
    expect(enrollments(world)).toHaveLength(0);
  });

  test('beta says in words which protocol there is not', async ({ world }) => {
    const said = await enroll(world, 'ftp');
    expect(said).toContain('The service has no beta for `ftp`');
    expect(said).toContain('static_hosting and managed_vps');
    expect(isEnrolled(world)).toBe(false);
  });

  test.for([{ beta_features: true }, { enrolled: true }])(
    'beta is enrolled where the service says %j',
    async (body, { world }) => {
      world.service.faults.add({ path: `/${ACCOUNT}/beta/enrollments`, status: 200, body });
      expect(await enroll(world)).toContain('is enrolled in the managed-resources beta');
    },
  );

  test('beta does not claim what the service denies', async ({ world }) => {
    const body = { enrolled: false, beta_features: false };
    world.service.faults.add({ path: `/${ACCOUNT}/beta/enrollments`, status: 200, body });
    expect(await enroll(world)).toContain('the beta is still off');
  });

  test('beta hands over where the key is not an administrator’s: the page, and a message to who is picked', async ({
    world,
  }) => {
    const { slack, service } = world;
    service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
    const said = await enroll(world);
    expect(said).toContain('Only an administrator of the account `acme`');
    expect(said).toContain(`"url":"${service.origin}/${ACCOUNT}/beta_features"`);
    const card = slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    const place = { channel: CHANNEL, ts: card?.ts ?? '' };
    const told = await answerTo(world, 'admin', () =>
      world.as('admin').click(place, { actionId: 'beta:tell', selected: PEOPLE.billing }),
    );
    expect(told).toContain(`<@${PEOPLE.billing}> was asked in a direct message`);
    const again = await answerTo(world, 'admin', () =>
      world.as('admin').click(place, { actionId: 'beta:tell', selected: PEOPLE.billing }),
    );
    expect(again).toContain('about this today already');
    expect(slack.dms(TEAM, PEOPLE.billing)).toHaveLength(1);
    const [dm] = slack.dms(TEAM, PEOPLE.billing);
    expect(dm?.text).toContain(`<@${PEOPLE.admin}> asks you to enable the managed-resources beta`);
    expect(JSON.stringify(dm?.blocks)).toContain(`${service.origin}/${ACCOUNT}/beta_features`);
  });

  test('beta shows what the service says of a refusal, its message and its hint', async ({ world }) => {
    world.service.faults.add({
      path: `/${ACCOUNT}/beta/enrollments`,
      status: 403,
      body: { error: 'admin_required', message: 'Only Kim may.', hint: 'Write to Kim.' },
    });
    expect(await enroll(world)).toContain('The service says: Only Kim may. Write to Kim.');
  });

  test('beta shows the hint beside the message where the service has no such protocol', async ({ world }) => {
    world.service.faults.add({
      path: `/${ACCOUNT}/beta/enrollments`,
      status: 422,
      body: { error: 'unsupported_protocol', message: 'No ftp here.', hint: 'Use static_hosting.' },
    });
    expect(await enroll(world, 'ftp')).toContain(
      'for `ftp`: No ftp here. The service says: Use static_hosting.',
    );
  });

  test('beta makes no button of an address that leads elsewhere than to a safe page', async ({ world }) => {
    world.service.faults.add({
      path: `/${ACCOUNT}/beta/enrollments`,
      status: 403,
      body: { error: 'admin_required', message: 'Ask.', beta_url: 'http://evil.example.com/' },
    });
    const said = await enroll(world);
    expect(said).toContain('"type":"users_select"');
    expect(said).not.toContain('evil');
  });
});
