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
  const latest = (world: TestWorld) => ({
    channel: CHANNEL,
    ts: world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '',
  });
  const answerWith = (world: TestWorld, status: number, body: object) =>
    world.service.faults.add({ path: `/${ACCOUNT}/beta/enrollments`, status, body });

  test('shows both flags, and offers an admin to enrol and a member someone to ask', async ({ world }) => {
    expect(await ask(world, '/deckhand beta', 'admin')).toContain('"action_id":"beta:enroll"');
    const said = await ask(world, '/deckhand beta');
    expect(said).not.toContain('beta:enroll');
    expect(said).toContain('"type":"users_select"');
    // The flag that is missing mirrors that of the beta.
    const account = { name: 'Acme', permalink: ACCOUNT, beta_features: true, managed_vps_eligible: false };
    const body = { email_address: EMAIL, account };
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 200, body });
    const enrolled = await ask(world, '/deckhand beta');
    expect(enrolled).toContain('beta of managed servers is *on* for *Acme*');
    expect(enrolled).toContain('*Static hosting*  :white_check_mark: eligible');
    expect(enrolled).toContain('*Managed servers*  :x: not eligible');
  });

  test('asks first, enrols with the protocol that is named, and says when nothing has changed, also with a member’s key', async ({
    world,
  }) => {
    const question = await ask(world, '/deckhand beta enrol', 'admin');
    expect(question).toContain('Enrol the account `acme` in the beta of managed servers?');
    expect(question).toContain('It cannot be undone');
    await ask(world, '/deckhand beta', 'admin');
    const refused = await world.as('admin').click(latest(world), { actionId: 'beta:enroll', confirm: false });
    expect(refused.outcome).toBe('denied');
    expect(enrollments(world)).toHaveLength(0);
    expect(await enroll(world, 'static-hosting')).toContain('is enrolled in the beta of managed servers');
    expect(enrollments(world)[0]?.body).toEqual({ protocol: 'static_hosting' });
    expect(isEnrolled(world)).toBe(true);
    expect(await enroll(world)).toContain('is in the beta already');
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
    expect(await enroll(world, 'static_hosting')).toContain('is in the beta already');
    expect(enrollments(world)).toHaveLength(1);
  });

  test('says in words which protocol there is not, and what the service says of it', async ({ world }) => {
    const said = await enroll(world, 'ftp');
    expect(said).toContain('The service has no beta for `ftp`');
    expect(said).toContain('static_hosting and managed_vps');
    expect(isEnrolled(world)).toBe(false);
    const body = { error: 'unsupported_protocol', message: 'No ftp here.', hint: 'Use static_hosting.' };
    answerWith(world, 422, body);
    expect(await enroll(world, 'ftp')).toContain(
      'for `ftp`: No ftp here. The service says: Use static_hosting.',
    );
  });

  test.for([
    [{ enrolled: true }, 'is enrolled in the beta of managed servers'],
    [{ enrolled: false, beta_features: false }, 'the beta is still off'],
  ] as const)('beta claims no more than the service says: %j', async ([body, words], { world }) => {
    answerWith(world, 200, body);
    expect(await enroll(world)).toContain(words);
  });

  test('hands over where the key is not an administrator’s: the page, and a message to who is picked', async ({
    world,
  }) => {
    const { slack, service } = world;
    const page = `${service.origin}/${ACCOUNT}/beta_features`;
    service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
    const said = await enroll(world);
    expect(said).toContain('Only an administrator of the account `acme`');
    expect(said).toContain(`"url":"${page}"`);
    const place = latest(world);
    const tell = () =>
      answerTo(world, 'admin', () =>
        world.as('admin').click(place, { actionId: 'beta:tell', selected: PEOPLE.billing }),
      );
    expect(await tell()).toContain(`<@${PEOPLE.billing}> was asked in a direct message`);
    expect(await tell()).toContain('about this today already');
    expect(slack.dms(TEAM, PEOPLE.billing)).toHaveLength(1);
    const [dm] = slack.dms(TEAM, PEOPLE.billing);
    expect(dm?.text).toContain(`<@${PEOPLE.admin}> asks you to enable the beta of managed servers`);
    expect(JSON.stringify(dm?.blocks)).toContain(page);
  });
});
