import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type DigestWorld,
  HOUR,
  openDigestWorld,
  PEOPLE,
  TEAM,
} from '../../scheduler/digests/digest-world.ts';
import { ask } from '../../support/asking.ts';

describe('what was deployed', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld('2026-03-02T20:00:00Z');
  });
  afterEach(() => world.stop());

  const say = (line: string) => ask(world, `/deckhand ${line}`, 'admin');
  /** Lets an hour pass, and then ends a deployment. */
  async function deploy(
    ref: string,
    servers: string[],
    { user = 'Kim Lee', event = 'deploy_completed' } = {},
  ) {
    await world.time.advance(HOUR / 4);
    const { projects = [] } = world.service.world.state.accounts.get(ACCOUNT) ?? {};
    const { identifier, permalink, name } = projects.find((one) => one.permalink === 'storefront') ?? {};
    const created_at = new Date(world.time.now()).toISOString();
    const properties = { end_ref: ref, servers };
    const body = [{ event, properties, project: { identifier, permalink, name }, user, created_at }];
    world.service.faults.add({ path: '/acme/activity', status: 200, body, times: 1 });
    await say('activity');
  }

  it('is what each server has now, what it had before, and what failed since', async () => {
    await deploy('aaaaaaa1', ['web-1', 'web-2']);
    await deploy('bbbbbbb1', ['web-1', 'web-2'], { user: 'Marta Nand' });
    await deploy('ccccccc1', ['web-2'], { event: 'deploy_failed' });
    const shown = await say('last storefront');
    expect(shown).toContain(':large_green_circle: *web-1*: `bbbbbbb` by Marta Nand, <!date^');
    expect(shown).toContain('(1 more today)\\nBefore it: `aaaaaaa` by Kim Lee');
    expect(shown).toContain('(2 more today)\\n:x: Failed since: `ccccccc` by Kim Lee');
    expect(shown).not.toContain(':rewind:');
    for (const words of ['last storefront web-1', 'last deployment of web-1', 'live storefront web-1']) {
      const one = await say(words);
      expect(one).toContain('*web-1*');
      expect(one).not.toContain('*web-2*');
    }
    expect(await say('last billing-api api-1')).toContain(
      'knows no deployment of api-1 of Billing API in acme',
    );
    expect(await say('last billing-api')).toContain('knows no deployment of Billing API in acme');
  });

  it('is one row for all servers that have the same', async () => {
    await deploy('aaaaaaa1', ['web-1', 'web-2', 'web-3']);
    await deploy('bbbbbbb1', ['web-4', 'web-2'], { user: 'Marta Nand' });
    const shown = await say('last storefront');
    expect(shown).toContain(':large_green_circle: *web-1* and *web-3*: `aaaaaaa` by Kim Lee, <!date^');
    expect(shown.split('`bbbbbbb`')).toHaveLength(3);
    expect(shown).toContain('*web-2*: `bbbbbbb` by Marta Nand');
  });

  it('has failed, although somebody cancelled the next deployment', async () => {
    await deploy('aaaaaaa1', ['web-1']);
    await deploy('bbbbbbb1', ['web-1'], { event: 'deploy_failed' });
    await deploy('ccccccc1', ['web-1'], { event: 'deploy_cancelled' });
    expect(await say('last storefront')).toContain(':x: Failed since: `bbbbbbb` by Kim Lee');
  });

  it('says that a revision is back, and from when to when it was live', async () => {
    await deploy('aaaaaaa1', ['web-1']);
    const from = world.time.now() / 1_000;
    await deploy('bbbbbbb1', ['web-1']);
    const to = world.time.now() / 1_000;
    await deploy('bbbbbbb2', ['web-1'], { event: 'deploy_failed' });
    await deploy('aaaaaaa1', ['web-1']);
    const shown = await say('last storefront');
    expect(shown).toMatch(
      new RegExp(`:rewind: back to \`aaaaaaa\`, live <!date\\^${from}\\^.* to <!date\\^${to}\\^`),
    );
    await deploy('aaaaaaa1', ['web-1']);
    expect(await say('last storefront')).toContain(`live <!date^${from}^`);
    const rewind = `:rewind: back to \`aaaaaaa\`, live <!date^${from}^`;
    expect((await say('history storefront')).split(rewind)).toHaveLength(3);
    expect(await say('activity storefront')).toContain(rewind);
    // On another server it is new.
    await deploy('aaaaaaa1', ['web-2']);
    expect((await say('history storefront')).split(rewind)).toHaveLength(3);
  });

  it('is listed for a project, a server or a person, without other events', async () => {
    await deploy('aaaaaaa1', ['web-1']);
    await deploy('bbbbbbb1', ['web-2'], { user: 'Marta Nand' });
    await deploy('', [], { event: 'server_created', user: 'Marta Nand' });
    for (const [words, title] of [
      ['history storefront', 'Deployments of Storefront in acme, the last 90 days: 2 deployments'],
      ['history of web-2', 'Deployments of web-2 of Storefront in acme, the last 90 days: 1 deployment'],
      [
        'history storefront web-2 30d',
        'Deployments of web-2 of Storefront in acme, the last 30 days: 1 deployment',
      ],
      ['history marta', 'Deployments of Marta Nand in acme, the last 90 days: 1 deployment'],
      ['activity Marta Nand', 'Activity of Marta Nand in acme, the last 7 days: 2 events'],
      ['activity kim today stats', '1 deployment: 1 succeeded'],
      ['activity web-2', 'Activity of web-2 of Storefront in acme, the last 7 days: 1 event'],
    ] as const)
      expect(await say(words)).toContain(title);
    await deploy('ccccccc1', ['web-1'], { user: 'Kim Park' });
    expect(await say('activity kim')).toContain('Several people have that name: `Kim Park`, `Kim Lee`');
    expect(await say('activity nobody')).toContain('There is no project or server `nobody`');
  });

  it('is on App Home, the last five', async () => {
    for (let at = 1; at <= 7; at += 1) await deploy(`${at}aaaaaaa`, ['web-1']);
    await world.as('admin').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.admin)?.content.blocks ?? []);
    await world.slack.until(() => home().includes('Last deployments'));
    expect(home().match(/`\daaaaaa`/g)).toEqual([7, 6, 5, 4, 3].map((at) => `\`${at}aaaaaa\``));
  });
});
