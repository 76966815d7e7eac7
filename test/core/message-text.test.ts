import { expect, it } from 'vitest';
import type { KnownBlock } from '../../src/core/message.ts';
import { describeMessage } from '../../src/core/message-text.ts';
import { bold, code, mrkdwn } from '../../src/core/mrkdwn.ts';
import { chartBlock } from '../../src/views/activity/chart.ts';
import { table } from '../../src/views/blocks/lists.ts';
import { button, buttons, context, header, say, section } from '../../src/views/blocks/make-blocks.ts';
import { drawPlan } from '../../src/views/test-access/items.ts';

const read = (text: string, ...blocks: KnownBlock[]): string => describeMessage({ text, blocks });

it('a sentence is its own text, without formatting, emoji or buttons', () => {
  const message = say(
    `:x: ${bold('Storefront')} in ${code('acme')} is gone`,
    ...buttons(button('Run again', 'test:again')),
  );
  expect(describeMessage(message)).toBe('Storefront in acme is gone');
});

it('what the blocks add follows the headline, once', () => {
  expect(
    read(
      'Storefront: 1 of 2 servers is unreachable',
      section(':warning: *Storefront: 1 of 2 servers is unreachable*'),
      context('`acme` · asked by <@U1> · took 8 s', '<https://a.example/x|Open the project>'),
    ),
  ).toBe('Storefront: 1 of 2 servers is unreachable. acme, asked by <@U1>, took 8 s, Open the project.');
});

it('a header that says less than the headline is left out', () => {
  expect(
    read(
      'Activity of Storefront in acme, last 7 days: 12 events',
      header('Activity, last 7 days'),
      section('*Storefront* in `acme`: 12 events'),
      context('Europe/Lisbon'),
    ),
  ).toBe('Activity of Storefront in acme, last 7 days: 12 events. Europe/Lisbon.');
});

it('tasks are read with their reasons, the others by name', () => {
  const item = { key: 'web-1', title: 'web-1', identifier: 'web-1' };
  const plan = drawPlan([
    { ...item, status: 'error', message: 'Connection refused' },
    { ...item, title: 'web-2', status: 'ok', message: null },
    { ...item, title: 'web-3', status: 'ok', message: null },
  ]);
  expect(read('Ended', ...plan)).toBe('Ended. web-1: Connection refused. Done: web-2, web-3.');
});

it('of a list the first twenty rows are read, and how many more there are', () => {
  const names = Array.from({ length: 31 }, (_, at) => `shop-${at + 1}`);
  const text = read(
    'All projects',
    ...table(
      'Projects',
      ['Name', 'Server'],
      names.map((name) => [name, 'web-1']),
    ),
  );
  expect(text).toMatch(/^All projects\. Name, Server\. shop-1, web-1\. .*shop-20, web-1\. And 11 more\.$/);
  expect(read('All projects', section([...names, '_and 4 more_'].join('\n')))).toMatch(
    /shop-20\. And 15 more\.$/,
  );
});

it('a long text is cut between sentences, within 1,500 characters', () => {
  const text = read(
    'Much',
    section(Array.from({ length: 18 }, (_, at) => `${at} ${'word '.repeat(30)}`).join('\n')),
  );
  expect(text.length).toBeLessThanOrEqual(1_500);
  expect(text).toMatch(/word\. And \d+ more\.$/);
  expect(read('x'.repeat(5_000)).length).toBe(1_500);
});

it('foreign signs stay as they are', () => {
  const text = read('Read', section(`${mrkdwn('*prod* :x: a_b')} ${code('a*b')}`));
  expect(text).not.toMatch(/[`]/);
  expect(text.replace(/<!date\^[^|>]*\|([^>]*)>|\u2060/g, '$1')).toBe('Read. *prod* :x: a_b a*b.');
});

it('a message that is sent again as Slack gives it does not grow', () => {
  const blocks = [
    header('3 watches'),
    section('*Storefront*  failures\n*Billing*  failures'),
    context('A note'),
  ];
  const once = read('3 watches', ...blocks);
  expect(once).toBe('3 watches. Storefront: failures. Billing: failures. A note.');
  expect(read(once, ...blocks)).toBe(once);
});

it('a chart is read day by day, without empty days', () => {
  const none = { succeeded: 0, failed: 0, cancelled: 0 };
  const bars = [
    { day: '2026-10-02', ...none },
    { day: '2026-10-03', ...none, succeeded: 4, failed: 1 },
  ];
  const chart = chartBlock({ bars, zone: 'UTC' });
  expect(read('Digest', chart)).toMatch(
    /^Digest\. Deployments per day\. Sat, Oct 3: 4 succeeded, 1 failed\.$/,
  );
});
