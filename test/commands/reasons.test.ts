import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { BRISK } from '../support/faults.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, type TestWorld } from '../support/test-world.ts';

const HINT = 'Ask Kim <!channel> for it.';
const SHOWN = 'The service says: Ask Kim &lt;!channel&gt; for it.';

function refuse(world: TestWorld, path: string, status: number, body: unknown): void {
  world.service.faults.add({ path: `/${ACCOUNT}/${path}`, status, body });
}

describe('what the service says about a failure', () => {
  test.override({ worldOptions: BRISK, connected: true });

  test.for([
    [401, 'unauthorized', 'was revoked or rotated'],
    [403, 'permission_denied', 'The service refused this'],
    [403, 'api_access_restricted', 'has no API access'],
    [403, 'admin_required', 'An administrator of the account must do this'],
    [404, 'record_not_found', 'did not find the profile'],
    [404, 'account_not_found', 'no account named'],
    [429, 'rate_limited', 'busy'],
    [400, 'invalid_json', 'answered unexpectedly'],
    [500, 'internal_error', 'answered unexpectedly'],
  ] as const)('a hint with %i %s follows our sentence', async ([status, code, sentence], { world }) => {
    refuse(world, 'profile', status, { error_code: code, hint: HINT });
    const [said = ''] = (await ask(world, '/deckhand whoami')).split(' [{');
    expect(said).toContain(sentence);
    expect(said).toContain(SHOWN);
    expect(said.indexOf(SHOWN)).toBeGreaterThan(said.indexOf(sentence));
  });

  test('a message that is also the hint is shown once', async ({ world }) => {
    refuse(world, 'profile', 403, { error: HINT, message: HINT, errors: [HINT, HINT], hint: HINT });
    const [said = ''] = (await ask(world, '/deckhand whoami')).split(' [{');
    expect(said.split('Ask Kim')).toHaveLength(2);
  });

  test('messages of a refused request are shown once each', async ({ world }) => {
    const body = { errors: ['Too many runs', 'Too many runs', 'Wait a little'] };
    refuse(world, 'profile', 422, body);
    const [said = ''] = (await ask(world, '/deckhand whoami')).split(' [{');
    expect(said).toContain('did not accept this: Too many runs, Wait a little.');
  });

  test.for([
    ['a message', { error: 'Your role is read-only.' }, 'Your role is read-only.'],
    ['a hint', { error_code: 'account_suspended', hint: 'The bill is overdue' }, 'The bill is overdue.'],
    ['both', { error: 'Account locked', hint: 'Pay the bill' }, 'Account locked. Pay the bill.'],
  ] as const)('a refusal with %s carries no guess', async ([, body, reason], { world }) => {
    refuse(world, 'profile', 403, body);
    const said = await ask(world, '/deckhand whoami');
    expect(said).toContain(`The service says: ${reason}`);
    expect(said).not.toMatch(/suspended|lacks the permission/);
  });

  test('a refusal of the invoices carries no guess where the service gave its reason', async ({ world }) => {
    refuse(world, 'account/invoices', 403, { message: 'The account is locked' });
    const said = await ask(world, '/deckhand invoices', 'admin');
    expect(said).toContain('The service says: The account is locked.');
    expect(said).not.toMatch(/owner is none|suspended/);
  });

  test('a plan without the API is explained in the words of the service', async ({ world }) => {
    const message = 'Your plan does not include the API; upgrade to use it.';
    refuse(world, 'profile', 403, { error: 'api_access_restricted', message });
    expect(await ask(world, '/deckhand whoami')).toContain(`has no API access. The service says: ${message}`);
  });

  test('an activity feed or invoices that are not found say nothing about the account’s name', async ({
    world,
  }) => {
    for (const [path, line] of [
      ['activity', 'activity'],
      ['account/invoices', 'invoices'],
      ['projects', 'projects'],
    ] as const) {
      refuse(world, path, 404, { error_code: 'record_not_found' });
      const said = await ask(world, `/deckhand ${line}`, 'admin');
      expect(said).toContain('did not find the');
      expect(said).not.toContain('no account named');
    }
  });
});
