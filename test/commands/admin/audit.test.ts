import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_AUDIT_ROWS } from '../../../src/records/audit-log.ts';
import { ask } from '../../support/asking.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { API_KEY, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('audit', () => {
  let world: TestWorld;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = createManualClock(Date.now() + 60_000);
    world = await openTestWorld({ clock, connected: true });
  });
  afterEach(() => world.stop());

  it('shows who did what and what was refused, newest first, and writes each into the log', async () => {
    await clock.advance(1000);
    expect(await ask(world, '/deckhand audit')).toContain('Only admins can use');
    const line = JSON.parse(await world.logged('"result":"refused"'));
    expect(line).toMatchObject({ event: 'audit', workspace: TEAM, user: PEOPLE.member, command: 'audit' });
    await clock.advance(1000);
    for (const typed of ['0', '51', 'all', '1.5'])
      expect(await ask(world, `/deckhand audit ${typed}`, 'admin')).toMatch(
        /Give how many entries a page has, from 1 to \d+\. Try `\/deckhand audit \[n\]`/,
      );
    const said = await ask(world, '/deckhand audit', 'admin');
    expect(said).toContain('Who did what. When, Who, What, Where, Result.');
    expect(said).toMatch(
      new RegExp(
        `<@${PEOPLE.member}>, Read the audit log, <#${CHANNEL}>, Refused\\. .*<@${PEOPLE.admin}>, Connect an account: acme.*, Done\\.`,
      ),
    );
  });

  it('names what a change was about, also of a refused one, but never a key', async () => {
    await ask(world, '/deckhand use storefront');
    expect(await ask(world, '/deckhand disconnect acme')).toContain('Only admins can disconnect');
    await ask(world, `/deckhand use ${API_KEY}`);
    const { audit } = world.app.workspaces.open(TEAM);
    const entries = (await audit.latest(10)).map(({ entry }) => entry);
    expect(entries.map(({ what, result, target }) => `${what} ${result} ${target}`)).toEqual(
      expect.arrayContaining(['disconnect refused acme', 'use refused storefront', 'use refused undefined']),
    );
    expect(JSON.stringify(entries)).not.toContain(API_KEY);
  });

  it('names acts in the words of people', async () => {
    const { audit } = world.app.workspaces.open(TEAM);
    for (const what of ['invoices notify off', 'invoices:undo', 'digest:undo', 'episode:claim'])
      await audit.record({ requestedBy: PEOPLE.admin, what, result: 'done' });
    const said = await ask(world, '/deckhand audit', 'admin');
    for (const words of [
      'End invoice notices',
      'Bring back invoice notices',
      'Bring back a digest',
      'Take on a failure',
    ])
      expect(said).toContain(`, ${words}`);
  });

  it('turns pages that stay in place while more happens', async () => {
    const { audit } = world.app.workspaces.open(TEAM);
    for (let n = 1; n <= 12; n += 1) {
      await clock.advance(1);
      await audit.record({ requestedBy: PEOPLE.admin, what: `change ${n}`, result: 'done' });
    }
    const first = await ask(world, '/deckhand audit 5', 'admin');
    expect(changesIn(first)).toEqual([12, 11, 10, 9, 8]);
    await audit.record({ requestedBy: PEOPLE.admin, what: 'change 99', result: 'done' });
    await turn('Older');
    await world.slack.until(() => shown().includes('Change 7'));
    expect(changesIn(shown())).toEqual([7, 6, 5, 4, 3]);
    await turn('Older');
    await world.slack.until(() => shown().includes('Change 2"'));
    expect(shown()).not.toContain('Older');
    await turn('Newer');
    await world.slack.until(() => shown().includes('Change 7'));
  });

  it('leaves out none of a page’s entries if they are very long', async () => {
    const { audit } = world.app.workspaces.open(TEAM);
    for (let n = 1; n <= 50; n += 1) {
      await clock.advance(1);
      await audit.record({
        requestedBy: PEOPLE.admin,
        what: `change ${n}`,
        target: '&'.repeat(120),
        result: 'done',
      });
    }
    const seen = new Set(changesIn(await ask(world, '/deckhand audit 50', 'admin')));
    while (seen.size < 50) {
      const before = shown();
      expect(before).not.toContain(' more');
      await turn('Older');
      await world.slack.until(() => shown() !== before);
      for (const change of changesIn(shown())) seen.add(change);
    }
  });

  it('keeps the newest 50,000 entries of a workspace', async () => {
    await world.restart(async () => {
      const db = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
      const doc = JSON.stringify({
        value: { doc: { at: 1, requestedBy: 'U0', what: 'old', result: 'done' } },
      });
      db.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 51000)
        INSERT INTO keyv (key, value, namespace)
        SELECT '${TEAM}/audit/' || printf('%015d-000000', i), ?, '' FROM n`).run(doc);
      db.close();
    });
    await ask(world, '/deckhand use storefront');
    const { audit } = world.app.workspaces.open(TEAM);
    expect(await audit.latest(1, { offset: MAX_AUDIT_ROWS })).toEqual([]);
    const kept = (await audit.latest(MAX_AUDIT_ROWS)).map(({ entry }) => entry.what);
    expect(kept[0]).toBe('use');
    expect(kept.length).toBeGreaterThan(49_000);
  });

  /** Told apart from what else the admin is told at some moment. */
  const log = () =>
    world.slack.ephemerals(TEAM, PEOPLE.admin).findLast(({ text }) => text.startsWith('Who did what'));
  const shown = () => JSON.stringify(log()?.blocks);

  async function turn(label: 'Older' | 'Newer'): Promise<void> {
    const place = { channel: CHANNEL, ts: log()?.ts ?? '' };
    await world.as('admin').click(place, { text: label });
  }
});

function changesIn(text: string): number[] {
  return [...text.matchAll(/"Change (\d+)/g)].map(([, n]) => Number(n));
}
