import { describe, expect } from 'vitest';
import { z } from 'zod';
import { say, test } from '../../scheduler/channel.ts';
import { answerTo } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const LOG = `/${ACCOUNT}/projects/*/deployments/*/steps/*/logs`;
const SECRET = ['hunter', '2x9'].join('');
const DETAIL = [
  ...Array.from({ length: 30 }, (_, at) => `\u001b[32mcopied ${at}\u001b[0m`),
  `export API_TOKEN=${SECRET}`,
  '\u0060\u0060\u0060 <!channel> *now* :tada:',
  'npm ERR! Missing script: "build"',
].join('\n');

const root = ({ slack }: TestWorld) =>
  slack.messages(TEAM, CHANNEL).findLast(({ text }) => /failed at|failing since/.test(text));
const thread = (world: TestWorld) => world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '');

async function fail(world: TestWorld): Promise<void> {
  await say(world, 'watch storefront failures');
  world.service.world.addDeployment({
    account: ACCOUNT,
    project: 'storefront',
    succeeded: false,
    endRef: 'd4fc10100',
    user: 'Marta Reis',
    failure: { cause: 'build', message: 'Building', detail: DETAIL },
  });
  await world.slack.until(() => JSON.stringify(root(world)?.blocks ?? []).includes('Failed in *Building'), {
    what: 'the step',
  });
}

const askForLog = (world: TestWorld) =>
  answerTo(world, 'member', () =>
    world.as('member').click({ channel: CHANNEL, ts: root(world)?.ts ?? '' }, { actionId: 'failure:log' }),
  );

describe('the log of a failed step', () => {
  test('is shown to a person alone, 20 lines without secrets, and shared in the thread if they want', async ({
    world,
  }) => {
    await fail(world);
    const log = await askForLog(world);
    expect(log).toContain('The last lines of Building: npm run build in Storefront');
    expect(log).toContain('copied 13\\n');
    expect(log).not.toContain('copied 12\\n');
    expect(log).toContain('API_TOKEN=[masked]');
    expect(log, 'letter for letter').toContain('``` <!channel> *now* :tada:');
    expect(log.slice(0, log.indexOf(' [{')), 'as phones show it').not.toContain('<!channel>');
    expect(thread(world)).toEqual([]);
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1) ?? {};
    await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'failure:share-log' });
    await world.slack.until(() => thread(world).length > 0, { what: 'the shared lines' });
    expect(thread(world)[0]?.text).toContain(`<@${PEOPLE.member}> shares the last lines`);
    expect(JSON.stringify(thread(world)[0]?.blocks)).toContain('npm ERR! Missing script');
    const stored = world.app.workspaces.open(TEAM).store;
    for (const name of ['episodes', 'deliveries', 'step-searches', 'audit'])
      expect(JSON.stringify(await stored.collection(name, z.unknown()).list())).not.toContain('copied');
    expect(world.logs.join('\n')).not.toContain('copied');
    expect(JSON.stringify(world.slack.calls)).not.toContain(SECRET);
    // Somebody else's click shares nothing twice.
    await askForLog(world);
    const second = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '';
    await world.as('member').click({ channel: CHANNEL, ts: second }, { actionId: 'failure:share-log' });
    await world.slack.until(() =>
      world.slack
        .ephemerals(TEAM, PEOPLE.member)
        .some(({ ts: own, text }) => own === second && text.includes('The lines are in the thread')),
    );
    expect(thread(world)).toHaveLength(1);
  });

  test.for<[string, (world: TestWorld) => unknown, string]>([
    [
      'diagnosis is switched off',
      ({ app }) => app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ diagnose: false })),
      '“Diagnose failures” is switched off',
    ],
    [
      'watches are switched off',
      ({ app }) => app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ commands: ['test'] })),
      '`watch` is switched off',
    ],
    [
      'the service refuses it',
      ({ service }) => service.faults.add({ path: LOG, status: 403 }),
      'no log of this failure',
    ],
    [
      'the service has it no longer',
      ({ service }) =>
        service.faults.add({ path: LOG, status: 404, body: { error_code: 'record_not_found' } }),
      'no such step',
    ],
    [
      'it is empty',
      ({ service }) => service.faults.add({ path: LOG, status: 200, body: [] }),
      'The log is empty',
    ],
  ])('is not shown if %s', async ([, change, words], { world }) => {
    await fail(world);
    await change(world);
    const answer = await askForLog(world);
    expect(answer).toContain(words);
    expect(answer).not.toContain('npm ERR!');
  });

  test('is not offered in a channel that another organisation reads, nor shown once it does', async ({
    world,
  }) => {
    await fail(world);
    const { ts = '' } = root(world) ?? {};
    world.slack.addWorkspace({ id: 'T0PARTNER', name: 'Partner', users: [], channels: [] });
    world.slack.shareChannel(TEAM, CHANNEL, 'T0PARTNER');
    // What Slack said of the channel is known for a minute.
    await world.restart(async () => undefined);
    const answer = await answerTo(world, 'member', () =>
      world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'failure:log' }),
    );
    expect(answer).toContain('People of other organisations may read this channel');
    await say(world, 'watch billing-api failures');
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'billing-api',
      succeeded: false,
      failure: { cause: 'build' },
    });
    await world.slack.until(() =>
      world.slack
        .messages(TEAM, CHANNEL)
        .some(
          ({ text, blocks }) => text.includes('Billing API') && JSON.stringify(blocks).includes('Failed in'),
        ),
    );
    const other = world.slack.messages(TEAM, CHANNEL).findLast(({ text }) => text.includes('Failed in'));
    expect(JSON.stringify(other?.blocks)).not.toContain('failure:log');
  });
});
