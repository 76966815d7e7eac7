import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { BRISK } from '../support/faults.ts';
import { test as base } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { ann } from './integrations/support.ts';

const test = base.extend('connected', true);

const HINT = 'Ask Kim <!channel> for it.';
const SHOWN = 'Ask Kim &lt;!channel&gt; for it.';
const REFUSED = { error_code: 'permission_denied', hint: HINT };

function refuse(world: TestWorld, path: string, status: number, body: object, method = 'GET'): void {
  world.service.faults.add({ method, path: `/${ACCOUNT}/${path}`, status, body });
}

const channelText = ({ slack }: TestWorld) => JSON.stringify(slack.messages(TEAM, CHANNEL));
const say = (world: TestWorld, line: string) => world.as('admin').command(CHANNEL, `/deckhand ${line}`);
/** The sentence alone, without its blocks. */
const sentence = async (world: TestWorld, line = 'whoami', who: 'admin' | 'member' = 'member') =>
  (await ask(world, `/deckhand ${line}`, who)).split(' [{')[0] ?? '';

describe('what the service says about a failure, in an answer', () => {
  test.override({ worldOptions: BRISK });

  test.for([
    [403, 'permission_denied', 'The service refused this'],
    [404, 'record_not_found', 'did not find the profile'],
  ] as const)('follows our sentence: a hint with %i %s', async ([status, code, ours], { world }) => {
    refuse(world, 'profile', status, { error_code: code, hint: HINT });
    const said = await sentence(world);
    expect(said).toContain(ours);
    expect(said.indexOf(`The service says: ${SHOWN}`)).toBeGreaterThan(said.indexOf(ours));
  });

  test.for([
    [403, { error: HINT, message: HINT, errors: [HINT, HINT], hint: HINT }, `The service says: ${SHOWN}`],
    [422, { errors: ['Too many', 'Too many', 'Wait'] }, 'did not accept this: Too many, Wait.'],
    [
      403,
      { error: 'api_access_restricted', message: 'Upgrade.' },
      'no API access. The service says: Upgrade.',
    ],
  ] as const)('is shown once, and instead of a guess: %i %j', async ([status, body, reason], { world }) => {
    refuse(world, 'profile', status, body);
    const said = await sentence(world);
    expect(said.split(reason)).toHaveLength(2);
    expect(said.split('Ask Kim').length).toBeLessThan(3);
    expect(said).not.toMatch(/suspended|lacks the permission/);
  });

  test('is not that the account’s name is wrong where a list is not found', async ({ world }) => {
    for (const path of ['activity', 'account/invoices', 'projects']) {
      refuse(world, path, 404, { error_code: 'record_not_found' });
      const said = await sentence(world, path.replace('account/', ''), 'admin');
      expect(said).toContain('did not find the');
      expect(said).not.toContain('no account named');
    }
  });
});

describe('a hint of the service', () => {
  test('follows the fault under its field in a form, or that of the whole on top', async ({ world }) => {
    const path = 'projects/storefront/integrations';
    const fault = { name: ['is taken'], error_code: 'invalid', hint: HINT };
    const me = ann(world);
    await me.open('integration add storefront');
    await me.choose('hook_type', 'http_req');
    const values = { name: 'Hook', 'properties.url': 'https://hooks.example.com' };
    refuse(world, path, 422, { ...fault, send_on_start: ['is off'] }, 'POST');
    const { errors } = await me.submit(values);
    expect(errors?.name).toBe(`is taken. ${HINT}`);
    // The field of a box is its group.
    expect(errors?.flags).toContain('is off');
    world.service.faults.clear();
    refuse(world, path, 422, { ...fault, base: ['Too many'], zone: ['<!here>'] }, 'POST');
    await me.submit(values);
    await world.slack.until(() => JSON.stringify(me.view()).includes('is taken'), { what: 'the fault' });
    expect(JSON.stringify(me.view())).toContain(SHOWN);
    expect(JSON.stringify(me.view())).toContain('Too many');
    expect(JSON.stringify(me.view())).toContain('zone: &lt;!here&gt;');
  });

  test('that advises programmers is left out, and "Try again" does it', async ({ world }) => {
    const hint = 'The service is paused for a moment; see Retry-After.';
    const body = { error_code: 'service_unavailable', hint };
    const path = `/${ACCOUNT}/projects`;
    world.service.faults.add({ path, status: 503, body, retryAfter: '120', times: 1 });
    await say(world, 'projects');
    const said = () => world.slack.ephemerals(TEAM, PEOPLE.admin);
    await world.slack.until(() => said().some(({ text }) => text.includes('The service is busy.')));
    expect(JSON.stringify(said())).not.toContain('Retry-After');
    const ts = said().at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'start:at-once#next' });
    await world.slack.until(() => JSON.stringify(said()).includes('Storefront'), { what: 'the projects' });
  });

  test.for([
    ['waits to start', { method: 'POST', status: 503, retryAfter: '30' }, '', 'The next try is'],
    ['ends', { status: 403 }, '/*', 'stopped'],
  ] as const)('stands in the root message of a run that %s', async ([, fault, part, words], { world }) => {
    const path = `/${ACCOUNT}/projects/storefront/test_access${part}`;
    world.service.faults.add({ path, body: REFUSED, ...fault });
    await say(world, 'test storefront');
    await world.slack.until(() => channelText(world).includes(words), { what: words });
    expect(channelText(world)).toContain(SHOWN);
  });
});

describe('a hint of the service about a schedule', () => {
  test.override({ worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } } });

  test('stands in the message about a paused watch', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await say(world, 'watch all');
    await world.slack.until(() => channelText(world).includes('This channel follows'));
    refuse(world, 'activity', 403, REFUSED);
    const told = () => JSON.stringify(world.slack.dms(TEAM, PEOPLE.admin));
    await world.slack.until(() => told().includes('Deckhand paused'), { what: 'the pause' });
    expect(told()).toContain(SHOWN);
  });
});
