import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { ann } from './integrations/support.ts';

const HINT = 'Ask Kim <!channel> for it.';
const SHOWN = 'Ask Kim &lt;!channel&gt; for it.';
const REFUSED = { error_code: 'permission_denied', hint: HINT };

function refuse(world: TestWorld, path: string, status: number, body: object, method = 'GET'): void {
  world.service.faults.add({ method, path: `/${ACCOUNT}/${path}`, status, body });
}

const channelText = ({ slack }: TestWorld) => JSON.stringify(slack.messages(TEAM, CHANNEL));
const dmText = ({ slack }: TestWorld) => JSON.stringify(slack.dms(TEAM, PEOPLE.admin));
const say = (world: TestWorld, line: string) => world.as('admin').command(CHANNEL, `/deckhand ${line}`);

describe('a hint of the service', () => {
  test.override({ connected: true });

  test('stands in the form of a new key that the service refuses', async ({ world }) => {
    refuse(world, 'projects', 403, { error_code: 'api_access_restricted', hint: HINT });
    const me = ann(world);
    await me.open('connect acme');
    const { errors } = await me.submit({ account: ACCOUNT, email: EMAIL, api_key: API_KEY });
    expect(errors?.account).toContain(HINT);
  });

  async function addHook(world: TestWorld, status: number, body: object) {
    refuse(world, 'projects/storefront/integrations', status, body, 'POST');
    const me = ann(world);
    await me.open('integration add storefront');
    await me.choose('hook_type', 'http_req');
    const { errors } = await me.submit({ name: 'Hook', 'properties.url': 'https://hooks.example.com' });
    return { me, errors };
  }

  test('follows the fault under its field in a form', async ({ world }) => {
    const { errors } = await addHook(world, 422, { name: ['is taken'], error_code: 'invalid', hint: HINT });
    expect(errors?.name).toBe(`is taken. ${HINT}`);
  });

  test('stands on top of a form together with a fault of the whole', async ({ world }) => {
    const { me } = await addHook(world, 422, { name: ['is taken'], base: ['Too many'], hint: HINT });
    await world.slack.until(() => JSON.stringify(me.view()).includes('is taken'), { what: 'the fault' });
    expect(JSON.stringify(me.view())).toContain(`Too many; ${SHOWN}`);
  });

  test('a busy service is named without its advice to programmers, and "Try again" does it', async ({
    world,
  }) => {
    const hint = 'The service is paused for a moment; see Retry-After.';
    const body = { error_code: 'service_unavailable', hint };
    world.service.faults.add({
      path: `/${ACCOUNT}/projects`,
      status: 503,
      body,
      retryAfter: '120',
      times: 1,
    });
    await say(world, 'projects');
    const said = () => world.slack.ephemerals(TEAM, PEOPLE.admin);
    await world.slack.until(() => said().some(({ text }) => text.includes('The service is busy.')));
    expect(JSON.stringify(said())).not.toContain('Retry-After');
    const ts = said().at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'start:at-once#next' });
    await world.slack.until(() => JSON.stringify(said()).includes('Storefront'), { what: 'the projects' });
  });

  test.for([
    ['starts', 'POST', 'projects/storefront/test_access'],
    ['goes on', 'GET', 'projects/storefront/test_access/*'],
  ] as const)(
    'stands in the root message of a run while a busy service keeps it waiting, where it %s',
    async ([, method, path], { world }) => {
      const body = { error_code: 'service_unavailable', hint: HINT };
      const fault = { method, path: `/${ACCOUNT}/${path}`, status: 503, body, retryAfter: '30' };
      world.service.faults.add(fault);
      await say(world, 'test storefront');
      await world.slack.until(() => channelText(world).includes('The next try is'), { what: 'the wait' });
      expect(channelText(world)).toContain(`The service says: ${SHOWN}`);
    },
  );

  test('stands in the root message of a run that the service ends', async ({ world }) => {
    refuse(world, 'projects/storefront/test_access/*', 403, REFUSED);
    await say(world, 'test storefront');
    await world.slack.until(() => channelText(world).includes('stopped'), { what: 'the end' });
    expect(channelText(world)).toContain(SHOWN);
  });

  test('stands on App Home beside figures that the service refuses', async ({ world }) => {
    refuse(world, 'activity', 403, REFUSED);
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.admin)?.content.blocks ?? []);
    await world.as('admin').openHome();
    await world.slack.until(() => home().includes('Your permissions') && !home().includes('Loading'));
    expect(home()).toContain(SHOWN);
  });
});

describe('a hint of the service about a schedule', () => {
  test.override({ connected: true, worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } } });

  test('stands in the message about a paused watch', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await say(world, 'watch all');
    await world.slack.until(() => channelText(world).includes('now hears'));
    refuse(world, 'activity', 403, REFUSED);
    await world.slack.until(() => dmText(world).includes('Deckhand paused'), { what: 'the pause' });
    expect(dmText(world)).toContain(SHOWN);
  });
});
