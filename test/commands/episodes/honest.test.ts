import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DAY,
  type DigestWorld,
  HOUR,
  MINUTE,
  openDigestWorld,
} from '../../scheduler/digests/digest-world.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

const OTHER = 'C0BILLING';
type Who = 'admin' | 'member';

describe('what fails', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
    world.slack.invite(TEAM, OTHER, 'bot');
  });
  afterEach(() => world.stop());

  const deploy = (succeeded: boolean, project = 'storefront', servers?: string[]) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project,
      succeeded,
      endedAt: world.time.now(),
      endRef: `ref${world.time.now() % 1e7}`,
      user: 'Kim',
      ...(servers && { servers }),
    });
  const failing = (where = CHANNEL, who: Who = 'member', words = '') =>
    answerTo(world, who, () => world.as(who).command(where, `/deckhand failing ${words}`.trim()));
  const roots = (where = CHANNEL) => world.slack.messages(TEAM, where);
  const sayIn = async (where: string, line: string) => {
    const before = roots(where).length;
    await world.as('admin').command(where, `/deckhand ${line}`);
    await world.slack.until(() => roots(where).length > before);
  };
  const lastShown = () => world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
  const green = 'Nothing followed here is failing, as of ';

  it('includes what failed before the watch was set up, after a restart too, and says as of when', async () => {
    deploy(false);
    await world.pass(HOUR);
    await world.say('watch storefront failures');
    await world.pass(2 * MINUTE);
    expect(await failing()).toMatch(/^Storefront: the deployment .*This is as of /);
    expect(await failing()).toContain('Kim');
    expect(await ask(world, '/deckhand')).toMatch(/^Storefront: the deployment /);
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.passUntil(() => home().includes('|Storefront>: the deployment'));
    await world.restart(async () => undefined);
    expect(await failing()).toContain('Storefront: the deployment');
    deploy(true);
    await world.pass(2 * MINUTE);
    expect(await failing()).toContain(green);
  });

  it('is the same in a channel that is bound to the project, and not in one about another project', async () => {
    await world.say('watch storefront failures');
    await sayIn(OTHER, 'use storefront');
    deploy(false, 'storefront', ['web-1', 'web-2']);
    await world.pass(2 * MINUTE);
    expect(await failing(OTHER)).toContain('Storefront: the deployment');
    // A success elsewhere is no recovery.
    deploy(true, 'storefront', ['web-1']);
    deploy(false, 'billing-api');
    await world.pass(2 * MINUTE);
    const said = await failing(OTHER);
    expect(said).toContain('Storefront: the deployment');
    expect(said).not.toContain('Billing');
    const all = await failing(OTHER, 'member', 'all');
    expect(all).toMatch(/^2 failures in acme\./);
    expect(all).toContain('Billing API: the deployment');
    expect(all).not.toContain(CHANNEL);
    deploy(true, 'storefront', ['web-2']);
    await world.pass(2 * MINUTE);
    expect(await failing(OTHER)).not.toContain('failing since');
  });

  it('includes what failed during a pause, also if the account is read for another channel alone', async () => {
    await world.say('watch storefront failures');
    await sayIn(OTHER, 'watch billing-api failures');
    await sayIn(CHANNEL, 'watch pause storefront');
    deploy(false);
    await world.pass(2 * MINUTE);
    const said = await failing();
    expect(said).toContain('Storefront: the deployment');
    expect(said).toContain('Not followed now');
    expect(await failing(OTHER)).toContain(green);
  });

  it('has what was closed in one last line, until it is mended', async () => {
    await world.say('watch storefront failures');
    deploy(false);
    await world.passUntil(() => roots().at(-1)?.text.includes('the deployment') === true);
    await leaveFailure(world, 'close', { ts: roots().at(-1)?.ts ?? '' });
    await world.passUntil(() => roots().at(-1)?.text.includes('closed by') === true);
    const said = await failing();
    expect(said).toMatch(/^No failure is open here, as of /);
    expect(said).toContain('1 was closed and is not mended.');
    expect(said).not.toContain('Storefront: ');
    expect(await failing(CHANNEL, 'member', 'all')).toContain('1 was closed and is not mended:');
    await failing();
    const { ts = '' } = lastShown() ?? {};
    await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'failing:closed' });
    const drawn = () =>
      JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member).find((one) => one.ts === ts)?.blocks);
    await world.slack.until(() => drawn().includes('|Storefront>: the deployment'));
    deploy(true);
    await world.pass(2 * MINUTE);
    expect(await failing()).toContain(green);
  });

  it('has what had no news for a week in one last line', async () => {
    await world.say('watch billing-api failures');
    deploy(false);
    await world.pass(2 * MINUTE);
    await world.say('watch storefront failures');
    await world.time.advance(7 * DAY);
    await world.pass(2 * MINUTE);
    const said = await failing();
    expect(said).toContain('1 was closed and is not mended.');
    expect(said).not.toContain('the deployment');
  });

  it('is never green alone while the service does not answer', async () => {
    await world.say('watch storefront failures');
    await world.pass(2 * MINUTE);
    expect(await failing()).toContain(green);
    const down = world.service.faults.add({ path: `/${ACCOUNT}/**`, status: 500 });
    await world.pass(10 * MINUTE);
    const words = '`acme` has not answered since ';
    const said = await failing();
    expect(said).toMatch(
      /^No failure is known here\. acme has not answered since .*, so this may be out of date\./,
    );
    expect(said).not.toContain(':large_green_circle:');
    expect(await failing(CHANNEL, 'member', 'all')).toContain(words);
    expect(await ask(world, '/deckhand')).toContain(words);
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.passUntil(() => home().includes(words));
    down.remove();
    await world.pass(20 * MINUTE);
    expect(await failing()).toContain(green);
  });

  it('is not green alone after three short intervals without an answer either', async () => {
    await world.stop();
    world = await openDigestWorld(undefined, { env: { NOTICE_INTERVAL_MS: '5000' } });
    await world.say('watch storefront failures');
    await world.pass(MINUTE);
    expect(await failing()).toContain(green);
    world.service.faults.add({ path: `/${ACCOUNT}/**`, status: 500 });
    await world.pass(MINUTE);
    expect(await failing()).toMatch(/^No failure is known here\. acme has not answered since /);
  });
});
