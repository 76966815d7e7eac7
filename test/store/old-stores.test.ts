import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { AuditEntry } from '../../src/records/audit.ts';
import { ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../support/test-world.ts';

/** Made by `fixtures/make-store.ts` with the code of that release. */
const RELEASES = ['0.2.0'];

describe.each(RELEASES)('a store that release %s left', (release) => {
  async function open(world: TestWorld): Promise<void> {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const file = join(import.meta.dirname, 'fixtures', `deckhand-${release}.sqlite`);
    await world.restart(() => copyFile(file, join(world.folder, 'deckhand.sqlite')));
  }

  test('is read by this one: accounts, their sealed keys, schedules, runs and the audit log', async ({
    world,
  }) => {
    await open(world);

    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
    expect(await ask(world, '/deckhand accounts')).toContain('ann@example.com');
    for (const [list, id] of [
      ['digest list', 'dxnk'],
      ['watch list', 'wjzd'],
    ] as const) {
      await world.as('admin').command(CHANNEL, `/deckhand ${list}`);
      const posts = (): string => JSON.stringify(world.slack.messages(TEAM, CHANNEL));
      await world.slack.until(() => posts().includes(id), { what: list });
    }
    const audit = await world.app.parts.store.of(TEAM).collection('audit', AuditEntry).list();
    expect(audit.map(({ doc }) => doc.what)).toEqual(['connect', 'digest add', 'watch', 'test']);
    expect(await ask(world, '/deckhand doctor', 'admin')).not.toContain('cannot be read');
    expect(world.logs.filter((line) => /record_quarantined|job_set_aside/.test(line))).toEqual([]);
  });

  describe('goes on', () => {
    test.override({ worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } } });

    test('where it was: its watch posts what is deployed from now on', async ({ world }) => {
      await open(world);
      await world.service.requests.next(({ path }) => path.endsWith('/activity'));

      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        succeeded: false,
        endRef: 'abc1234',
      });

      // At some hours of the day the store's digest is late, and posted too.
      const news = () =>
        world.slack.messages(TEAM, CHANNEL).filter(({ text }) => !text.includes('Deployment digest'));
      await world.slack.until(() => news().length > 0, { what: 'the news' });
      expect(news().map(({ text }) => text)).toEqual([expect.stringContaining('Storefront')]);
    });
  });
});
