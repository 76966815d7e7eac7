import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

describe('beta', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    house.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    await house.connect();
  });
  afterEach(() => house.stop());

  const enrollments = () => house.service.requests.all.filter(({ path }) => path === '/beta/enrollments');
  const isEnrolled = () => house.service.world.state.accounts.get(ACCOUNT)?.betaFeatures;

  it('shows the status with both flags, each by itself', async () => {
    house.service.faults.add({
      path: `/${ACCOUNT}/profile`,
      status: 200,
      body: {
        email_address: EMAIL,
        account: {
          name: 'Acme',
          permalink: ACCOUNT,
          beta_features: true,
          static_hosting_eligible: true,
          managed_vps_eligible: false,
        },
      },
    });
    const said = await ask(house, '/deckhand beta');
    expect(said).toContain('beta is *on* for *Acme*');
    expect(said).toContain('*Static hosting*  :white_check_mark: eligible');
    expect(said).toContain('*Managed servers*  :x: not eligible');
  });

  it('offers an admin to enrol, and a member someone to ask', async () => {
    expect(await ask(house, '/deckhand beta', 'admin')).toContain('"action_id":"beta:enroll"');
    const said = await ask(house, '/deckhand beta');
    expect(said).not.toContain('beta:enroll');
    expect(said).toContain('"type":"users_select"');
  });

  it('enrols with the protocol that is named, and says when nothing has changed', async () => {
    const first = await ask(house, '/deckhand beta enroll static-hosting', 'admin');
    expect(first).toContain('is enrolled in the managed-resources beta');
    expect(enrollments()[0]?.body).toEqual({ protocol: 'static_hosting' });
    expect(isEnrolled()).toBe(true);
    expect(await ask(house, '/deckhand beta enroll', 'admin')).toContain('nothing has changed');
    expect(enrollments()[1]?.body).toEqual({});
  });

  it('enrols from the button, once that is confirmed', async () => {
    const { slack } = house;
    await ask(house, '/deckhand beta', 'admin');
    const place = { channel: CHANNEL, ts: slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '' };
    const refused = await house.as('admin').click(place, { actionId: 'beta:enroll', confirm: false });
    expect(refused.outcome).toBe('denied');
    await house.as('admin').click(place, { actionId: 'beta:enroll' });
    await slack.until(() =>
      slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('is enrolled in')),
    );
    expect(enrollments()).toHaveLength(1);
  });

  it('is enrolled by nobody without the role', async () => {
    expect(await ask(house, '/deckhand beta enroll')).toContain('This needs the role *admin*');
    expect(enrollments()).toHaveLength(0);
  });

  it('says in words which protocol there is not', async () => {
    const said = await ask(house, '/deckhand beta enroll ftp', 'admin');
    expect(said).toContain('The service has no beta for `ftp`');
    expect(said).toContain('static_hosting and managed_vps');
    expect(isEnrolled()).toBe(false);
  });

  it('does not claim what the service denies', async () => {
    const body = { enrolled: false, beta_features: false };
    house.service.faults.add({ path: `/${ACCOUNT}/beta/enrollments`, status: 200, body });
    expect(await ask(house, '/deckhand beta enroll', 'admin')).toContain('the beta is still off');
  });

  it('hands over where the key is not an administrator’s: the page, and a message to who is picked', async () => {
    const { slack, service } = house;
    service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
    const said = await ask(house, '/deckhand beta enroll', 'admin');
    expect(said).toContain('Only an administrator of the account `acme`');
    expect(said).toContain(`"url":"${service.origin}/${ACCOUNT}/beta_features"`);
    const card = slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    const place = { channel: CHANNEL, ts: card?.ts ?? '' };
    const told = await answerTo(house, 'admin', () =>
      house.as('admin').click(place, { actionId: 'beta:tell', selected: PEOPLE.billing }),
    );
    expect(told).toContain(`I told <@${PEOPLE.billing}>`);
    const [dm] = slack.dms(TEAM, PEOPLE.billing);
    expect(dm?.text).toContain(`<@${PEOPLE.admin}> asks you to enable the managed-resources beta`);
    expect(JSON.stringify(dm?.blocks)).toContain(`${service.origin}/${ACCOUNT}/beta_features`);
  });

  it('makes no button of an address that leads elsewhere than to a safe page', async () => {
    house.service.faults.add({
      path: `/${ACCOUNT}/beta/enrollments`,
      status: 403,
      body: { error: 'admin_required', message: 'Ask.', beta_url: 'http://evil.example.com/' },
    });
    const said = await ask(house, '/deckhand beta enroll', 'admin');
    expect(said).toContain('"type":"users_select"');
    expect(said).not.toContain('evil');
  });
});
