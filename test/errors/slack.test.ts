import { describe, expect, it } from 'vitest';
import { failing } from '../support/faults.ts';
import { CHANNEL, EMAIL, PEOPLE, TEAM } from '../support/test-world.ts';
import { expectAnswer, typing, whoami, worldOfItsOwn } from './support.ts';

const POST = ['chat.postMessage', 'test storefront'] as const;
const OPEN = ['views.open', 'connect'] as const;
const NOT_ALLOWED = ['Slack does not allow Deckhand', 'Ask a workspace admin'] as const;
const EXPIRED = ['has expired', 'Run the command again.'] as const;
const WRONG = ['Slack did not accept Deckhand’s answer.', 'Try again', 'with a reference'] as const;

describe('what Slack does', () => {
  it.each([
    [POST, { error: 'not_in_channel' }, ['Deckhand is not in this channel yet.', '`/invite @deckhand`']],
    [POST, { error: 'is_archived' }, ['This channel is archived.', 'Use another channel.']],
    [POST, { error: 'restricted_action_read_only_channel' }, NOT_ALLOWED],
    [POST, { error: 'org_login_required' }, ['Slack is moving this workspace', 'once that is done.']],
    [OPEN, { error: 'missing_scope' }, NOT_ALLOWED],
    [OPEN, { error: 'expired_trigger_id' }, EXPIRED],
    [OPEN, { error: 'invalid_trigger_id' }, EXPIRED],
    [OPEN, { error: 'invalid_arguments' }, WRONG],
    [OPEN, { status: 429, retryAfter: 600 }, ['Slack is limiting Deckhand’s requests.', 'in a minute.']],
  ] as const)('%s: %j is told to the person alone', async ([method, line], fault, answer) => {
    const world = await worldOfItsOwn({});
    world.slack.fault({ method, ...fault });
    expectAnswer(world, await typing(line)(world), answer);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  it('a rate limit that passes soon is waited for', async () => {
    const world = await worldOfItsOwn({});
    world.slack.fault({ method: 'chat.postMessage', status: 429, retryAfter: 1, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL)[0]?.text.includes('reachable'));
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
    ['refused by an unknown word', { error: 'a_word_of_tomorrow' }],
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
