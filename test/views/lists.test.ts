import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../sandbox/slack/block-kit/view.ts';
import { describeMessage } from '../../src/core/message-text.ts';
import type { Watch } from '../../src/records/schedules.ts';
import type { Invoice } from '../../src/service/invoices.ts';
import { menu, menuTarget, selectInput } from '../../src/views/blocks/inputs.ts';
import { listBlocks, splitAnswer, table } from '../../src/views/blocks/lists.ts';
import { headed, section } from '../../src/views/blocks/make-blocks.ts';
import { modal, refill } from '../../src/views/blocks/modal.ts';
import { invoiceNotices, invoicesMessage, invoiceTitle } from '../../src/views/invoices/invoice-messages.ts';
import { chooseProjectMessage } from '../../src/views/projects/project-messages.ts';
import { SCHEDULE_FACES } from '../../src/views/schedules/faces.ts';
import { scheduleList } from '../../src/views/schedules/schedule.ts';
import { listNews } from '../../src/views/test-access/test-thread.ts';
import { hostileText } from '../support/hostile.ts';

describe('a long list', () => {
  it('is a table of its rows, with pages and a caption for more than ten', () => {
    expect(table('Names', [{ title: 'Name' }], [['one'], ['']])).toMatchObject([
      { type: 'table', rows: [[{ text: 'Name' }], [{ text: 'one' }], [{ text: '—' }]] },
    ]);
    const rows = (amount: number) => Array.from({ length: amount }, (_, at) => [`row ${at}`]);
    expect(table('Names', [{ title: 'Name' }], rows(10))).toMatchObject([{ type: 'table' }]);
    expect(table('Names', [{ title: 'Name' }], rows(11))).toMatchObject([
      { type: 'data_table', caption: 'Names', page_size: 10 },
    ]);
  });

  it('leaves out no row, in messages of one table each', () => {
    const names = Array.from({ length: 250 }, (_, at) => [`row ${at}.`]);
    const parts = splitAnswer(headed('All names', ...table('Names', ['Name'], names), section('The end.')));
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(JSON.stringify(part).match(/data_table/g)).toHaveLength(1);
    for (const name of [...names.flat(), 'The end.']) expect(JSON.stringify(parts)).toContain(name);
  });

  it('keeps every line, in as many messages as Slack takes', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at} ${'x'.repeat(400)}`);
    const parts = splitAnswer(headed('Lines', ...listBlocks(lines)));
    expect(JSON.stringify(parts).match(/line \d+/g)).toHaveLength(400);
    for (const part of parts) expect(JSON.stringify(part.blocks).length).toBeLessThan(13_000);
    expect(listBlocks(['one', 'two'])).toHaveLength(1);
  });

  it('tells a phone the rows of each message, where the text of the first is whole', () => {
    const rows = Array.from({ length: 60 }, (_, at) => section(`row ${at} ${'x'.repeat(300)}`));
    const parts = splitAnswer({ text: 'Rows. row 0. And 59 more.', isTextWhole: true, blocks: rows });
    const [first, second] = parts.map((part) => describeMessage(part));
    expect(first).toBe('Rows. row 0. And 59 more.');
    expect(second).toMatch(/^Part 2\. row \d\d x/);
  });
});

it('a list of schedules ends before it is too long for Slack, and says how to see the others', () => {
  const face = SCHEDULE_FACES.watch;
  const made = { channel: 'C1', account: 'acme', createdBy: 'U1', createdAt: 0, requestId: '' } as const;
  const watch: Watch = { ...made, kind: 'watch', id: 'w1', mode: 'all', state: { kind: 'active' } };
  const listed = Array.from({ length: 20 }, (_, at) => ({
    schedule: { ...watch, id: `w${at}` },
    lines: ['x'.repeat(2_000)],
  }));
  const { blocks } = scheduleList(face, listed, { scope: 'here', elsewhere: 0, word: '/deckhand' });
  expect(JSON.stringify(blocks).length).toBeLessThan(13_000);
  expect(JSON.stringify(blocks)).toMatch(/and \d+ more: `\/deckhand watch list here`/);
});

describe('a menu', () => {
  const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });

  it('comes back with its target, or is left out if Slack has no room for it', () => {
    fc.assert(
      fc.property(fc.record({ account: key, project: key, command: hostileText }), (target) => {
        const [block] = menu({ actionId: 'server', placeholder: 'Choose', target });
        if (block === undefined) expect(JSON.stringify(target).length).toBeGreaterThan(255 - 'about '.length);
        else expect(menuTarget(block.block_id ?? '')).toEqual(target);
      }),
    );
  });

  it.each(['run test', '', '{"account":"acme"}', 'about {"account":1}'])('has no target in %j', (blockId) => {
    expect(menuTarget(blockId)).toBeUndefined();
  });

  const project = (permalink: string, name = '<!channel>'.repeat(50)) => ({
    name,
    permalink,
    identifier: permalink,
    last_deployed_at: null,
    starred: false,
  });

  it.each([1, 100, 101, 1000])('asks for one of %i projects, and keeps what was typed', (amount) => {
    const projects = Array.from({ length: amount }, (_, at) => project(`p-${at}`));
    const { blocks } = chooseProjectMessage(projects, 'test --account acme');
    expect(checkMessageBlocks(blocks)).toEqual([]);
    expect(menuTarget(blocks[1]?.block_id ?? '')).toEqual({ command: 'test --account acme' });
    expect(JSON.stringify(blocks)).toContain(amount > 100 ? 'external_select' : 'static_select');
  });

  it('asks for words if no permalink fits into it', () => {
    expect(checkMessageBlocks(chooseProjectMessage([project('x'.repeat(151))], 'test').blocks)).toEqual([]);
  });

  it('holds more than a hundred choices in a form, and keeps the one that was chosen', () => {
    const description = 'As the service calls it. '.repeat(10);
    const choices = Array.from({ length: 250 }, (_, at) => ({
      value: `size-${at}`,
      text: `${at}`,
      description,
    }));
    const form = modal('server.add', 'Add', { submit: 'Add' }, [selectInput('size', 'Size', { choices })]);
    expect(checkView(form, 'modal')).toEqual([]);
    for (const { value } of choices) expect(JSON.stringify(form)).toContain(`"${value}"`);
    const [block] = refill(form, { size: 'size-249' }, []).blocks;
    expect(block).toMatchObject({ element: { initial_option: { value: 'size-249' } } });
  });
});

describe('the thread of a test run', () => {
  const target = { account: 'acme', project: { permalink: 'storefront', name: 'Storefront' } };
  const repository = { status: 'ok' as const, message: null };
  const list = (amount: number, isFailing: (at: number) => boolean) => {
    const servers = Array.from({ length: amount }, (_, at) => ({
      name: `web-${at}`,
      identifier: `s${at}`,
      ...(isFailing(at) ? { status: 'error' as const, message: `no ${at}` } : { ...repository }),
    }));
    const run = { status: 'completed', completed_at: null, results: { servers, repository } };
    return listNews({ target }, run, 'compact').map(({ message }) => message);
  };

  it('names each of 1,000 servers in few replies, fifty of the failing ones with a button', () => {
    const news = list(1_000, (at) => at % 10 === 0);
    expect(news.length).toBeLessThan(70);
    const text = JSON.stringify(news.map(({ blocks }) => blocks));
    for (let at = 0; at < 1_000; at += 1)
      expect(text).toContain(at % 10 === 0 ? `*web-${at}*` : `"web-${at}"`);
    expect(text).toContain('no 990');
    expect(text.split('Test this server again')).toHaveLength(51);
  });

  it('has more than ten results in a table', () => {
    const [first, second] = list(11, (at) => at === 3);
    expect(first?.text).toBe('All 12 results');
    expect(first?.blocks[1]).toMatchObject({ type: 'data_table', page_size: 10 });
    const cells = ['web-3', 'unreachable', 'no 3'].map((text) => ({ type: 'raw_text', text }));
    expect(JSON.stringify(first?.blocks)).toContain(JSON.stringify(cells));
    expect(second?.text).toContain('*web-3* is unreachable');
  });
});

const PAID: Invoice = {
  number: 1001,
  kind: 'subscription',
  currency: 'eur',
  total: '0049.50',
  vat: '8.2',
  paid: true,
  paid_at: '2026-11-02T23:30:00Z',
  created_at: '2026-11-01T23:30:00Z',
  download_url: 'https://acme.example.com/account/invoices/1001.pdf',
};
const OPEN = { paid: false, paid_at: null, vat: null, currency: 'jpy', total: '1200' };
const UNPAID: Invoice = { ...PAID, ...OPEN, number: 1002 };

describe('invoices', () => {
  const listRows = (invoices: Invoice[]) =>
    invoicesMessage('acme', invoices)
      .blocks.flatMap((block) => (block.type === 'table' ? block.rows : []))
      .map((row) => row.map((cell) => (cell.type === 'raw_text' ? cell.text : '')));

  it('have their amounts as given, each in its own currency', () => {
    expect(listRows([UNPAID, PAID])).toEqual([
      ['Number', 'Date', 'Kind', 'Total', 'VAT', 'Paid'],
      ['1002', 'Nov 1, 2026', 'subscription', '1200 JPY', '—', '⚠️ unpaid'],
      ['1001', 'Nov 1, 2026', 'subscription', '0049.50 EUR', '8.2 EUR', 'Nov 2, 2026'],
    ]);
    expect(invoiceTitle('acme', 1002, UNPAID)).toBe('Invoice 1002 of acme, 1200 JPY, unpaid');
    expect(invoiceTitle('acme', 7, undefined)).toBe('Invoice 7 of acme');
  });

  it.each(['2026-11-30T23:30:00Z', '2026-11-30T00:30:00+09:00', '2026-11-30T23:59:59-05:00', '2026-11-30'])(
    'of %s are of that calendar day for every reader, in the table and in notices',
    (day) => {
      const invoice = { ...PAID, created_at: day, paid_at: day };
      expect(listRows([invoice])[1]).toEqual(expect.arrayContaining(['1001', 'Nov 30, 2026']));
      const { root } = invoiceNotices('acme', [{ kind: 'paid', invoice }]);
      expect(JSON.stringify(root)).toContain('of Nov 30, 2026, VAT');
    },
  );

  it('name the unpaid ones first, with a button for each of these and of the latest', () => {
    const old = Array.from({ length: 8 }, (_, at) => ({ ...PAID, number: 900 - at }));
    const text = JSON.stringify(invoicesMessage('acme', [PAID, ...old, UNPAID]));
    expect(text).toContain('1 unpaid: `1002` (1200 JPY)');
    expect(text.match(/PDF of \d+(?: \(unpaid\))?/g)).toEqual([
      'PDF of 1001',
      'PDF of 900',
      'PDF of 899',
      'PDF of 1002 (unpaid)',
    ]);
  });

  it('are said to be missing', () => {
    expect(invoicesMessage('acme', []).text).toContain('no invoices yet');
  });
});
