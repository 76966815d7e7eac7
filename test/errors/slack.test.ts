import { describe, expect, it } from 'vitest';
import { failing } from '../support/faults.ts';
import { CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { expectAnswer, nothing, type Row, typing, whoami, worldOfItsOwn } from './support.ts';

describe('what Slack does', () => {
  const refusing = (method: string, error: string) => (at: TestWorld) => {
    at.slack.fault({ method, error, times: 1 });
  };

  it.each<Row>([
    [
      'not in the channel',
      refusing('chat.postMessage', 'not_in_channel'),
      typing('test storefront'),
      'Deckhand is not in this channel yet.',
      'Invite it with `/invite @deckhand`, then try again.',
    ],
    [
      'an archived channel',
      refusing('chat.postMessage', 'is_archived'),
      typing('test storefront'),
      'This channel is archived.',
      'Use another channel.',
    ],
    [
      'a read-only channel',
      refusing('chat.postMessage', 'restricted_action_read_only_channel'),
      typing('test storefront'),
      'Slack does not allow Deckhand',
      'Ask a workspace admin',
    ],
    [
      'a missing scope',
      refusing('views.open', 'missing_scope'),
      typing('connect'),
      'Slack does not allow Deckhand',
      'Ask a workspace admin',
    ],
    [
      'an expired trigger',
      refusing('views.open', 'expired_trigger_id'),
      typing('connect'),
      'has expired',
      'Run the command again.',
    ],
    [
      'a trigger that Slack does not know',
      refusing('views.open', 'invalid_trigger_id'),
      typing('connect'),
      'has expired',
      'Run the command again.',
    ],
    [
      'a call that Slack finds wrong',
      refusing('views.open', 'invalid_arguments'),
      typing('connect'),
      'Slack did not take Deckhand’s answer.',
      'Try again',
      'with a reference',
    ],
  ])('%s: is told to the asker alone', async (...row) => {
    const world = await worldOfItsOwn({});
    const [, given, when] = row;
    await given(world);
    expectAnswer(world, await when(world), row);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  it('a rate limit that passes soon is waited for', async () => {
    const world = await worldOfItsOwn({});
    world.slack.fault({ method: 'chat.postMessage', status: 429, retryAfter: 1, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL)[0]?.text.includes('reachable'));
  });

  it('a rate limit of a form is told where waiting would be too long', async () => {
    const world = await worldOfItsOwn({});
    world.slack.fault({ method: 'views.open', status: 429, retryAfter: 600 });
    const said = await typing('connect')(world);
    expectAnswer(world, said, [
      '',
      nothing,
      whoami,
      'Slack is limiting Deckhand’s requests.',
      'Try again in a minute.',
    ]);
  });

  it('a response address that has run out is made up for by a message to the same person', async () => {
    const world = await worldOfItsOwn({});
    failing({ delayMs: 200 }, 'profile')(world);
    const asked = world.service.requests.nextArrival();
    const said = whoami(world);
    await asked;
    world.slack.advance(31 * 60_000);
    expect(await said).toContain(EMAIL);
    await world.logged('"event":"response_url_failed","status":404');
  });

  it.each([
    ['archived', { error: 'is_archived' }],
    ['out of reach', { error: 'not_in_channel' }],
    ['busy for long', { status: 429, retryAfter: 600 }],
  ])('a person in a channel that is %s is answered by direct message', async (_, fault) => {
    const world = await worldOfItsOwn({ env: { SLACK_RESPONSE_HOSTS: 'hooks.example.com' } });
    world.slack.fault({ method: 'chat.postEphemeral', ...fault });
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length === 1);
    expect(JSON.stringify(world.slack.dms(TEAM, PEOPLE.member))).toContain(EMAIL);
  });

  it('that takes no answer at all is in the log', async () => {
    const world = await worldOfItsOwn({ env: { SLACK_RESPONSE_HOSTS: 'hooks.example.com' } });
    await world.slack.until(() => world.slack.calls.some(({ method }) => method === 'auth.test'));
    world.slack.fault({ method: '*', error: 'token_revoked' });
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await world.logged('"event":"answer_failed"');
  });
});
