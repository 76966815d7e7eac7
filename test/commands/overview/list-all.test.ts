import { describe, expect } from 'vitest';
import type { Watch } from '../../../src/records/schedules.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** Three projects in each of 40 channels, each channel with an account of its own. */
async function fill({ app }: TestWorld): Promise<void> {
  const { schedules } = app.workspaces.open(TEAM);
  for (let number = 0; number < 120; number += 1) {
    const client = String(Math.floor(number / 3)).padStart(2, '0');
    const name = `Project ${number}`;
    const watch: Watch = {
      kind: 'watch',
      id: `w${number}`,
      requestId: `r${number}`,
      channel: `C0CLIENT${client}`,
      account: `client-${client}`,
      project: { permalink: `project-${number}`, name },
      mode: 'failures',
      createdBy: PEOPLE.admin,
      createdAt: number,
      state: { kind: 'active' },
    };
    await schedules.put(watch);
  }
}

describe('a table of all channels', () => {
  test.override({ connected: true });
  test.beforeEach(({ world }) => fill(world));

  test('has a row for each channel and account, in pages', async ({ world }) => {
    const first = await ask(world, '/deckhand list all', 'admin');
    expect(first).toContain('40 channels, nothing fails');
    expect(first).toContain('"type":"table"');
    expect(first).toContain('{"type":"channel","channel_id":"C0CLIENT00"}');
    expect(first).toContain('Project 0, Project 1, Project 2');
    expect(first).toMatch(/"type":"link","url":"[^"]+\/projects\/project-0","text":"Project 0"/);
    expect(first).toContain('Page 1 of 2');
    expect(first).not.toContain('C0CLIENT20');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'list:page#more' });
    const shown = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.blocks);
    await world.slack.until(() => shown().includes('C0CLIENT39'));
    expect(shown()).toContain('Page 2 of 2');
  });

  test('is filtered by a word, and is what `watch list all` shows', async ({ world }) => {
    const one = await ask(world, '/deckhand watch list all client-07', 'admin');
    expect(one).toContain('1 channel with `client-07`');
    expect(one).toContain('Project 21, Project 22, Project 23');
    expect(await ask(world, '/deckhand list all project 119', 'admin')).toContain('C0CLIENT39');
    expect(await ask(world, '/deckhand list all <#C0CLIENT05|client-05>', 'admin')).toContain('client-05');
    expect(await ask(world, '/deckhand list all nothing-of-it', 'admin')).toContain('Nothing is set up');
    for (const word of ['failing', 'Failures', 'broken'])
      expect(await ask(world, `/deckhand list all ${word}`, 'admin')).toContain(
        'Nothing fails in any channel',
      );
  });

  test('has patterns, the last event of a digest alone, and a channel by its name', async ({ world }) => {
    world.slack.addChannel(TEAM, { id: 'C0XYZ', name: 'rockets', members: [PEOPLE.admin] });
    world.slack.invite(TEAM, 'C0XYZ', 'bot');
    await ask(world, '/deckhand watch store-* failures', 'admin');
    expect(await ask(world, '/deckhand list all C0DEPLOYS', 'admin')).toContain('store-*');
    await answerTo(world, 'admin', () =>
      world.as('admin').command('C0XYZ', '/deckhand digest add daily 09:00 UTC --account acme'),
    );
    world.service.world.addDeployment({ account: ACCOUNT, project: 'storefront', user: 'Kim' });
    await ask(world, '/deckhand activity', 'admin');
    await answerTo(world, 'admin', () => world.as('admin').command('C0XYZ', '/deckhand digest pause'));
    for (const word of ['paused', 'rockets', '#rockets', '<#C0XYZ>'])
      expect(await ask(world, `/deckhand list all ${word}`, 'admin')).toMatch(/"C0XYZ".*"type":"date"/);
  });

  test('names invoice notices only to billing people', async ({ world }) => {
    const { schedules, roles } = world.app.workspaces.open(TEAM);
    await schedules.put({
      kind: 'invoices',
      id: 'C0CLIENT01 client-01',
      requestId: 'r',
      channel: 'C0CLIENT01',
      account: 'client-01',
      createdBy: PEOPLE.admin,
      createdAt: 1,
      state: { kind: 'active' },
    });
    await roles.give(PEOPLE.admin, 'admin', PEOPLE.admin);
    await roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    for (const words of ['client-01', 'invoice notices'])
      expect(await ask(world, `/deckhand list all ${words}`, 'admin')).toContain('watch, invoice notices');
    expect(await ask(world, '/deckhand list all client-01', 'member')).not.toContain('invoice notices');
  });

  test('is on App Home for operators', async ({ world }) => {
    const home = (who: 'admin' | 'member') =>
      JSON.stringify(world.slack.home(TEAM, PEOPLE[who])?.content.blocks ?? []);
    for (const who of ['admin', 'member'] as const) {
      await world.as(who).openHome();
      await world.slack.until(() => home(who).includes('As of'));
    }
    expect(home('admin')).toContain('All channels');
    expect(home('admin')).toContain('and 32 more: `/deckhand list all`');
    expect(home('member')).not.toContain('All channels');
  });
});
