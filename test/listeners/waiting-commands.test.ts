import { describe, expect } from 'vitest';
import { ask, openForm } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { jobsToEnd } from '../support/jobs-to-end.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const MINUTE = 60_000;
const told = ({ slack }: TestWorld, who: keyof typeof PEOPLE) =>
  slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text);
const answers = (world: TestWorld, who: keyof typeof PEOPLE, words: string) =>
  told(world, who).filter((text) => text.includes(words)).length;
const answered = (world: TestWorld, who: keyof typeof PEOPLE, words: string) =>
  world.slack.until(() => answers(world, who, words) > 0, { what: words });

describe('a command that was typed before an account was connected', () => {
  test('runs by itself for everybody who was told so, where they typed it, once', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand test storefront')).toContain('runs by itself');
    expect(await ask(world, '/deckhand projects')).toContain('runs by itself');
    expect(await ask(world, '/deckhand projects')).toContain('runs by itself');
    expect(await ask(world, '/deckhand whoami', 'admin')).toContain('runs by itself');
    expect(await ask(world, '/deckhand digest add', 'admin')).toContain('runs by itself');
    const { ts } = await world.as('billing').postMessage(CHANNEL, '@deckhand test billing-api');
    await answered(world, 'billing', 'runs by itself');
    await world.connect();
    await answered(world, 'member', '2 projects in');
    await answered(world, 'admin', 'You');
    await answered(world, 'admin', '/deckhand digest add opens a form.');
    const roots = () => world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Storefront'));
    const replies = () =>
      world.slack.thread(TEAM, CHANNEL, ts).filter(({ text }) => text.includes('Billing'));
    await world.slack.until(() => roots().length > 0 && replies().length > 0, { what: 'both tests' });
    await world.connect();
    expect(await ask(world, '/deckhand projects store')).toContain('1 project');
    expect(answers(world, 'member', '2 projects in')).toBe(1);
    expect(roots()).toHaveLength(1);
  });

  test('has a button that repeats it, also once it waits no longer', async ({ world }) => {
    expect(await ask(world, '/deckhand projects')).toContain('"Try again"');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1) ?? {};
    const { waiting } = world.app.workspaces.open(TEAM);
    for (const { id } of await waiting.list()) await waiting.forget(id);
    await world.connect();
    await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'start:at-once#1' });
    await answered(world, 'member', '2 projects in');
  });

  test('is refused where the person lost the role meanwhile', async ({ world }) => {
    await ask(world, '/deckhand use storefront');
    await world.app.workspaces.open(TEAM).roles.set({
      admin: [PEOPLE.admin],
      operator: [PEOPLE.admin],
      billing: [],
      changedBy: PEOPLE.admin,
      changedAt: 0,
    });
    await world.connect();
    await answered(world, 'member', 'operator');
  });

  test('runs after a sign-up, once the e-mail address is verified', async ({ world }) => {
    await ask(world, '/deckhand projects');
    const ann = await openForm(world, 'signup');
    await ann.submit('signup', {
      email: 'new@example.org',
      password: 'CanaryPassword-1f2e3d4c5b6a-Canary',
      account_name: 'Northwind',
      terms_accepted: ['true'],
    });
    await answered(world, 'admin', 'Northwind');
    await jobsToEnd(world);
    expect(told(world, 'member')).toHaveLength(1);
    await fetch(world.service.world.state.outbox.at(-1)?.link ?? '');
    expect(await ask(world, '/deckhand whoami', 'admin')).toContain('northwind');
    await answered(world, 'member', 'No projects in northwind');
  });

  describe('half an hour ago', () => {
    const time = createManualClock();
    test.override({ worldOptions: { time } });

    test('is forgotten', async ({ world }) => {
      await ask(world, '/deckhand whoami');
      await time.advance(2 * MINUTE);
      await ask(world, '/deckhand projects');
      await time.advance(29 * MINUTE);
      await world.connect();
      await answered(world, 'member', '2 projects in');
      expect(answers(world, 'member', 'in Deckhand')).toBe(0);
    });
  });
});
