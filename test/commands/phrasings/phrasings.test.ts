import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpanStart, Tracing } from '../../../src/observability/tracing.ts';
import { NO_TRACING } from '../../../src/observability/tracing.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import {
  GUESSES,
  HALF_SENTENCES,
  IN_PASSING,
  ON_CALL,
  OTHER_WORDS,
  type Row,
  TYPED_FIRST,
  UNREAD,
} from './phrasings.ts';

let world: TestWorld;
let commands: Array<{ name: string; outcome: string }> = [];
let running = 0;
let onAnswered = (): void => {};

/** Tells which command answered last, and when the person has the answer. */
const tracing: Tracing = {
  ...NO_TRACING,
  async trace({ name }: SpanStart, work) {
    const [kind, ...words] = name.split(' ');
    if (kind !== 'command') return work({ set() {}, fail() {} });
    const command = { name: words.join(' '), outcome: '' };
    commands.push(command);
    running += 1;
    try {
      return await work({
        set: (attributes) => {
          command.outcome = String(attributes['deckhand.outcome'] ?? command.outcome);
        },
        fail() {},
      });
    } finally {
      running -= 1;
      if (running === 0) onAnswered();
    }
  },
};

beforeAll(async () => {
  world = await openTestWorld({
    connected: true,
    tracing,
    projects: [
      { permalink: 'storefront', name: 'Storefront', servers: [{ name: 'web-1' }, { name: 'web-2' }] },
      { permalink: 'search', name: 'Search', servers: [{ name: 'search-1' }] },
    ],
  });
  const { projects = [] } = world.service.world.state.accounts.get(ACCOUNT) ?? {};
  const [project] = projects;
  const properties = { end_ref: 'aaaaaaa1', servers: ['web-1', 'web-2'] };
  const event = {
    event: 'deploy_completed',
    properties,
    user: 'Marta Reis',
    created_at: new Date().toISOString(),
  };
  const body = [{ ...event, project: { ...project } }];
  world.service.faults.add({ path: `/${ACCOUNT}/activity`, status: 200, body });
  world.slack.invite(TEAM, CHANNEL, 'bot');
});
afterAll(() => world.stop());

/** All that a person sees after they typed something. */
async function type(typed: string) {
  commands = [];
  const answered = new Promise<void>((resolve) => {
    onAnswered = resolve;
  });
  const { slack } = world;
  const ann = world.as('admin');
  const read = () => [...slack.ephemerals(TEAM, PEOPLE.admin), ...slack.messages(TEAM, CHANNEL)];
  const before = new Set(read().map(({ ts }) => ts));
  if (typed.startsWith('@')) await ann.postMessage(CHANNEL, `@deckhand ${typed.slice(1)}`);
  else await ann.command(CHANNEL, `/deckhand ${typed}`);
  await answered;
  const text = JSON.stringify(read().filter(({ ts }) => !before.has(ts)));
  return { text, form: ann.openView()?.content.callback_id, last: commands.at(-1) };
}

/** Every button and hint of an answer leads to a command that changes nothing, or to one that the words name. */
function listLeads(text: string): string[] {
  return [...text.matchAll(/\\"text\\":\\"(.*?)\\"/g)].map(([, lead = '']) => lead);
}

const ORDERS =
  /^(?:server add|signup|beta enroll|disconnect|integration|connect|unwatch|use|accounts default|roles)\b/;

it.each(['mute 2h', 'snooze', 'mute storefront until monday', 'silence', 'be quiet', 'unmute'])(
  '"%s" is about quiet',
  async (typed) => {
    expect((await type(typed)).last?.name).toBe('quiet');
  },
);

it.each([
  'pause storefront?',
  'mute storefront?',
  'connect acme?',
  'guard remove storefront?',
  '@watch search?',
])('the question "%s" gets help', async (typed) => {
  const { last, text, form } = await type(typed);
  expect(last?.name, text).toBe('help');
  expect(form).toBeUndefined();
});

it('a question is not offered a command that changes something for a misspelt one', async () => {
  expect((await type('pasue?')).text).not.toMatch(/Did you mean|pause/);
});

it('a misspelt project is offered by its name', async () => {
  expect((await type('stroefront')).text).toContain('test storefront');
});

describe.each([
  ['as people typed them first', TYPED_FIRST],
  ['of somebody who has not read the help', UNREAD],
  ['of somebody on call', ON_CALL],
  ['of a colleague in passing', IN_PASSING],
  ['of other people', OTHER_WORDS],
  ['of half sentences', HALF_SENTENCES],
  ['of a colleague who guesses', GUESSES],
])('the words %s', (_, rows: readonly Row[]) => {
  it.each(rows)('"%s": %s %s', async (typed, outcome, command) => {
    const { text, last } = await type(typed);
    expect(last?.name, text).toBe(command);
    expect(last?.outcome === 'done' ? 'does' : 'points', text).toBe(outcome);
    expect(listLeads(text).filter((lead) => ORDERS.test(lead))).toEqual([]);
  });
});

it.each([
  'quiet production',
  'pause website',
  'pause prod please',
  'silence the site for 1h',
  'turn off web-1',
  'switch off search alerts',
  'turn this off for rockets',
  'stop posting rockets',
])('"%s" changes nothing else, because nothing here is called so', async (typed) => {
  await type('watch storefront');
  expect((await type(typed)).text).not.toMatch(/Paused|Everything is quiet|Which one should/);
  await type('unwatch');
});
