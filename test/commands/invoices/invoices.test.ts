import { describe, expect } from 'vitest';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const LIST = '/*/account/invoices';

describe('invoices', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.service.world.addInvoice({ account: ACCOUNT, number: 1000, paidAt: 1_790_000_000_000 });
    world.service.world.addInvoice({ account: ACCOUNT, number: 1001, total: '1234.50', currency: 'eur' });
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
  });

  const files = (world: TestWorld) => world.slack.files(TEAM);

  test('are listed for one person, whose button sends a PDF by direct message, with no address anywhere', async ({
    world,
  }) => {
    const shown = await ask(world, '/deckhand invoices', 'admin');
    expect(shown).toContain('2 invoices of acme, 1 unpaid');
    expect(shown).toContain('1234.50 EUR');
    expect(shown).not.toContain('http');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const said = await answerTo(world, 'admin', () =>
      world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'invoices:pdf#1001' }),
    );
    expect(said).toContain('as a direct message');
    const [file] = files(world);
    expect(file?.bytes?.subarray(0, 5).toString()).toBe('%PDF-');
    expect(file).toMatchObject({
      name: 'acme-invoice-1001.pdf',
      title: 'Invoice 1001 of acme, 1234.50 EUR, unpaid',
    });
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const sent = JSON.stringify(world.slack.calls.filter(({ method }) => method.startsWith('chat.')));
    expect(sent + said).not.toContain('/account/invoices/');
    const [latest] = await world.app.workspaces.open(TEAM).audit.latest(1);
    expect(latest?.entry).toMatchObject({ requestedBy: PEOPLE.admin, what: 'invoices', target: 'acme/1001' });
  });

  test('are posted in the channel only for whoever says “here”', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await ask(world, '/deckhand invoices notify here', 'admin');
    expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain('as a direct message');
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    await world.as('admin').command(CHANNEL, '/deckhand invoices #1001 here');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 1);
    expect(world.slack.messages(TEAM, CHANNEL)[1]?.text).toContain(`for <@${PEOPLE.admin}>`);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toHaveLength(1);
  });

  test('whose upload Slack does not answer may have arrived, and that is said', async ({ world }) => {
    world.slack.fault({ method: 'files.completeUploadExternal', drop: 'after', times: 1 });
    const said = await ask(world, '/deckhand invoices 1001', 'admin');
    expect(said).toContain('the file may or may not have arrived. Look for it before you try again.');
    expect(files(world)).toHaveLength(1);
  });

  test.for([
    ['an address that is none', LIST, record('nonsense'), 'no full address for the PDF'],
    ['no PDF', '/*/account/invoices/1001.pdf', { nothing: true }, 'is not a PDF'],
  ] as const)(
    'of %s are told of in a sentence, and nothing is sent',
    async ([, path, body, words], { world }) => {
      world.service.faults.add({ path, status: 200, body });
      expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain(words);
      expect(files(world)).toEqual([]);
    },
  );
});

/** The list, with this address for the PDF. */
function record(download_url: string): object[] {
  const paid = { paid: false, paid_at: null, created_at: '2026-11-01T00:00:00Z' };
  const amount = { currency: 'eur', total: '1.00', vat: '0.00' };
  return [{ number: 1001, kind: 'subscription', ...amount, ...paid, download_url }];
}
