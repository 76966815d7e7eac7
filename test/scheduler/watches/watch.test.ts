import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const OTHER = 'C0BILLING';

describe('watch', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld({ env: { NOTICE_INTERVAL_MS: '40' } });
    for (const channel of [CHANNEL, OTHER]) house.slack.invite(TEAM, channel, 'bot');
    await house.connect();
  });
  afterEach(() => house.stop());

  const texts = (channel = CHANNEL) => house.slack.messages(TEAM, channel).map(({ text }) => text);
  const news = (channel = CHANNEL) =>
    house.slack.messages(TEAM, channel).filter(({ text }) => !text.includes('Watch `'));
  const blocks = (channel = CHANNEL) => JSON.stringify(house.slack.messages(TEAM, channel));
  const dms = () => house.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);
  const until = (check: () => boolean, what: string) => house.slack.until(check, { what });
  const say = (line: string, channel = CHANNEL) => house.as('admin').command(channel, `/deckhand ${line}`);

  async function watch(words: string, channel = CHANNEL): Promise<string> {
    const before = texts(channel).length;
    await say(`watch ${words}`, channel);
    await until(() => texts(channel).length > before, `an answer to watch ${words}`);
    return texts(channel).at(-1) ?? '';
  }

  const idIn = (text: string) => /Watch `(\w+)`/.exec(text)?.[1] ?? '';

  function deploy(ref: string, { project = 'storefront', succeeded = true } = {}): void {
    house.service.world.addDeployment({ account: ACCOUNT, project, succeeded, endRef: ref, user: 'Kim' });
  }

  /** Resolves when the feed was asked for anew, and the answer dealt with, so that nothing more is to come. */
  async function looks(amount = 3): Promise<void> {
    for (let look = 0; look < amount; look += 1)
      await house.service.requests.next(({ path }) => path.endsWith('/activity'));
  }

  it('tells the channel each event once, and nothing of what was before', async () => {
    deploy('before0');
    expect(await watch('all')).toContain('every event of all projects of `acme`');
    await looks();
    deploy('after01');
    await until(() => blocks().includes('after01'), 'the first event');
    deploy('after02', { project: 'billing-api', succeeded: false });
    await until(() => blocks().includes('after02'), 'the second event');
    await looks();
    expect(news()).toHaveLength(2);
    expect(blocks()).not.toContain('before0');
    expect(news()[1]?.text).toContain(':x:');
    expect(news()[1]?.text).toContain('*Billing API*');
  });

  it('keeps to a project and to failures', async () => {
    await watch('storefront failures');
    deploy('failed1', { project: 'billing-api', succeeded: false });
    deploy('passed1');
    deploy('failed2', { succeeded: false });
    await until(() => blocks().includes('failed2'), 'the failure');
    await looks();
    expect(blocks()).not.toContain('failed1');
    expect(blocks()).not.toContain('passed1');
  });

  it('tells transitions only: started failing, and recovered', async () => {
    deploy('failed0', { project: 'billing-api', succeeded: false });
    await watch('all transitions');
    deploy('passed1');
    deploy('failed1', { succeeded: false });
    await until(() => blocks().includes('*Storefront* *started failing*'), 'the turn');
    deploy('failed2', { succeeded: false });
    deploy('passed2');
    deploy('passed3', { project: 'billing-api' });
    await until(() => blocks().includes('*Billing API* *recovered*'), 'the other turn');
    expect(blocks()).toContain('*Storefront* *recovered*');
    for (const ref of ['passed1', 'failed2', 'failed0']) expect(blocks()).not.toContain(ref);
  });

  it('asks once for all channels, and tells an event once where several watches fit', async () => {
    await watch('all');
    await watch('storefront failures');
    await watch('all failures', OTHER);
    house.service.requests.clear();
    await looks(5);
    const asked = house.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;
    expect(asked).toBeLessThanOrEqual(6);
    deploy('failed1', { succeeded: false });
    await until(() => blocks().includes('failed1') && blocks(OTHER).includes('failed1'), 'both channels');
    await looks();
    expect(news()).toHaveLength(1);
    expect(news(OTHER)).toHaveLength(1);
  });

  it('makes one message of more than ten, whose thread holds them', async () => {
    await watch('all');
    house.service.faults.add({ path: '/acme/activity', delayMs: 100, times: 1 });
    for (let at = 10; at < 47; at += 1) deploy(`ref00${at}`);
    await until(() => news().some(({ text }) => text.includes('events in `acme`')), 'the summary');
    const told = () =>
      news()
        .map((root) => JSON.stringify([root, house.slack.thread(TEAM, CHANNEL, root.ts)]))
        .join();
    const missing = () =>
      Array.from({ length: 37 }, (_, at) => `ref00${at + 10}`).filter((ref) => !told().includes(ref));
    await until(() => missing().length === 0, 'all in the thread');
    await looks();
    expect(news().length).toBeLessThanOrEqual(2);
  });

  it('says that some may be missing after more than a page at once', async () => {
    await watch('storefront failures');
    const fault = house.service.faults.add({ path: '/acme/activity', status: 503 });
    for (let at = 0; at < 120; at += 1) deploy(`ref${1000 + at}`, { project: 'billing-api' });
    fault.remove();
    await until(() => blocks().includes('some may be missing here'), 'the warning');
    await looks();
    expect(news()).toHaveLength(1);
  });

  it('changes the mode of what is watched, and says so of what it is told already', async () => {
    const id = idIn(await watch('storefront'));
    expect(await watch('storefront transitions')).toContain(`\`${id}\`: when a project starts failing`);
    expect(await ask(house, '/deckhand watch storefront transitions', 'admin')).toContain('already');
  });

  it('means the channel’s project, the only one, or asks', async () => {
    expect(await ask(house, '/deckhand watch failures', 'admin')).toContain('Billing API');
    await say('use storefront');
    await until(() => texts().length === 1, 'the binding');
    expect(await watch('failures')).toContain('what fails of *Storefront*');
  });

  it('is for operators', async () => {
    expect(await ask(house, '/deckhand watch all')).toContain('needs the role *operator*');
  });

  it('does not begin in a channel where it cannot speak', async () => {
    house.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(house, '/deckhand watch all', 'admin')).toContain('Invite me');
    house.slack.invite(TEAM, CHANNEL, 'bot');
    await say('watch list');
    await until(() => texts().length > 0, 'the list');
    expect(texts()[0]).toContain('Nothing is watched in this channel');
  });

  describe('what is set up', () => {
    it('is listed with who, when and what came of it, and paused, resumed and stopped by buttons', async () => {
      const id = idIn(await watch('storefront'));
      await watch('all failures');
      deploy('after01');
      await until(() => blocks().includes('after01'), 'the event');
      await looks();
      await say('watch list');
      await until(() => texts().includes('2 watches of this channel'), 'the list');
      const list = () =>
        house.slack.messages(TEAM, CHANNEL).find(({ text }) => text.includes('of this channel'));
      const shown = () => JSON.stringify(list()?.blocks);
      expect(shown()).toContain(`Set up by <@${PEOPLE.admin}>`);
      expect(shown()).toContain('Last: 1 event');
      expect(shown()).toContain('Nothing was posted yet');
      const press = (verb: string) =>
        house
          .as('admin')
          .click({ channel: CHANNEL, ts: list()?.ts ?? '' }, { actionId: `watch:${verb}#${id}` });
      await press('pause');
      await until(() => shown().includes(`Paused by <@${PEOPLE.admin}>`), 'the pause');
      deploy('paused1');
      await looks();
      await press('resume');
      await until(() => !shown().includes('Paused'), 'the resumption');
      deploy('after02');
      await until(() => blocks().includes('after02'), 'the next event');
      expect(blocks()).not.toContain('paused1');
      await press('stop');
      await until(() => list()?.text === '1 watch of this channel', 'the end');
      deploy('stopped');
      await looks();
      expect(blocks()).not.toContain('stopped');
    });

    it('is stopped by id, project, or all at once, and asks where several would do', async () => {
      const first = idIn(await watch('storefront'));
      await watch('billing-api');
      await watch('all transitions');
      expect(await ask(house, '/deckhand unwatch', 'admin')).toContain('This channel has 3 watches');
      await say(`unwatch ${first.toUpperCase()}`);
      await until(() => texts().some((text) => text.includes(`stopped the watch \`${first}\``)), 'the first');
      await say('unwatch billing-api');
      await until(() => texts().some((text) => /stopped the watch.*Billing API/.test(text)), 'the second');
      await say('unwatch all');
      await until(() => texts().some((text) => text.includes('stopped 1 watch:')), 'the rest');
      expect(await ask(house, '/deckhand unwatch', 'admin')).toContain('Nothing is watched');
      expect(await ask(house, '/deckhand unwatch wxyz', 'admin')).toContain('There is no watch `wxyz`');
    });

    it('pauses and resumes by words, from another channel too', async () => {
      const id = idIn(await watch('all'));
      await say('watch pause');
      await until(() => blocks().includes(`<@${PEOPLE.admin}> paused it`), 'the pause');
      deploy('paused1');
      const said = await answerTo(house, 'admin', () => say(`watch resume ${id}`, OTHER));
      expect(said).toContain(`Watch \`${id}\``);
      expect(blocks()).toContain(`<@${PEOPLE.admin}> resumed it`);
      deploy('after01');
      await until(() => blocks().includes('after01'), 'the event');
      expect(blocks()).not.toContain('paused1');
    });
  });

  describe('what cannot be told', () => {
    it('is paused with the reason and one message, and goes on from there once it is resumed', async () => {
      const id = idIn(await watch('all'));
      await watch('storefront failures');
      house.slack.archiveChannel(TEAM, CHANNEL);
      deploy('failed1', { succeeded: false });
      await until(() => dms().length > 0, 'the message');
      expect(dms()[0]).toContain('the channel is archived');
      expect(dms()[0]).toContain(`/deckhand watch resume ${id}`);
      house.slack.unarchiveChannel(TEAM, CHANNEL);
      house.slack.invite(TEAM, CHANNEL, 'bot');
      await say(`watch resume ${id}`);
      await until(() => blocks().includes('failed1'), 'what was missed');
      deploy('after01');
      await until(() => blocks().includes('after01'), 'what comes');
      expect(news().filter(({ text }) => text.includes('failed1'))).toHaveLength(1);
      expect(dms()).toHaveLength(1);
    });

    it('pauses all watches of an account that refuses, once', async () => {
      await watch('all');
      await watch('all', OTHER);
      const fault = house.service.faults.add({
        path: '/acme/activity',
        status: 403,
        body: { error_code: 'api_access_restricted' },
      });
      await until(() => dms().length > 0, 'the message');
      expect(dms()[0]).toContain('the plan of the account `acme` has no API access');
      expect(await ask(house, '/deckhand watch resume', 'admin')).toContain('has no API access');
      fault.remove();
      deploy('after01');
      await say('watch resume');
      await until(() => blocks().includes('after01'), 'what was missed');
      expect(dms()).toHaveLength(1);
    });

    it('pauses with the key and goes on with a new one, with one message for the whole workspace', async () => {
      await watch('all');
      await watch('all', OTHER);
      const apiKey = house.service.world.rotateKey({ account: ACCOUNT, email: EMAIL });
      await until(() => dms().length > 0, 'the message');
      expect(dms()[0]).toContain('the key of the account `acme` was revoked or rotated');
      deploy('missed1');
      const ann = house.as('admin');
      await ann.command(CHANNEL, '/deckhand connect');
      await until(() => ann.openView() !== undefined, 'the form');
      await ann.submit('connect', { account: ACCOUNT, email: EMAIL, api_key: apiKey });
      await until(() => blocks().includes('missed1') && blocks(OTHER).includes('missed1'), 'both channels');
      expect(dms()).toHaveLength(1);
    });
  });
});

describe('the feed', () => {
  let house: TestWorld;
  let time: ManualClock;
  beforeEach(async () => {
    time = createManualClock();
    house = await openTestWorld({ time });
    house.slack.invite(TEAM, CHANNEL, 'bot');
    await house.connect();
    await house.as('admin').command(CHANNEL, '/deckhand watch all');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL).length > 0);
    house.service.requests.clear();
  });
  afterEach(() => house.stop());

  const asked = () => house.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;

  /** Lets time pass until it was asked so often, and tells how long that took, in seconds. */
  async function secondsUntil(amount: number): Promise<number> {
    const from = time.now();
    while (asked() < amount) {
      await time.advance(1000);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return (time.now() - from) / 1000;
  }

  it('is looked at once a minute', async () => {
    const minute = await secondsUntil(1);
    expect(minute).toBeGreaterThan(50);
    expect(minute).toBeLessThan(70);
  });

  it('is left alone as long as a busy service asks', async () => {
    house.service.faults.add({ path: '/acme/activity', status: 429, retryAfter: '600', times: 1 });
    await secondsUntil(1);
    expect(await secondsUntil(2)).toBeGreaterThan(595);
  });

  it('is looked at more and more seldom while the service fails, and the list says so', async () => {
    const fault = house.service.faults.add({ path: '/acme/activity', status: 500 });
    await secondsUntil(1);
    expect(await secondsUntil(2)).toBeGreaterThan(100);
    expect(await secondsUntil(3)).toBeGreaterThan(200);
    await house.as('admin').command(CHANNEL, '/deckhand watch list');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL).length === 2);
    const list = JSON.stringify(house.slack.messages(TEAM, CHANNEL)[1]?.blocks);
    expect(list).toContain('The service does not answer');
    fault.remove();
    expect(await secondsUntil(5)).toBeLessThan(700);
  });
});
