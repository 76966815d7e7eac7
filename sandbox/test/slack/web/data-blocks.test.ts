import { afterAll, beforeAll, expect, it } from 'vitest';
import { seriousColourFaults, seriousFaults } from '../../support/axe.ts';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { people } from './fixture-workspace.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const series = (name: string, values: number[]) => ({
  name,
  data: values.map((value, index) => ({ label: days[index], value })),
});

const outcomes = [
  series('Succeeded', [12, 18, 9, 14, 21, 3, 1]),
  series('Failed', [2, 0, 4, 1, 3, 0, 0]),
  series('Change', [3, 6, -9, 5, 7, -18, -2]),
];

const chart = (type: string, more: object) => ({
  type: 'data_visualization',
  title: `Deployments, ${type}`,
  chart: { type, ...more },
});

const axes = { series: outcomes, axis_config: { categories: days, x_label: 'Day', y_label: 'Runs' } };
const segments = [
  { label: 'Succeeded', value: 78 },
  { label: 'Failed', value: 10 },
];

const raw = (text: string) => ({ type: 'raw_text', text });
const number = (value: number) => ({ type: 'raw_number', value, text: `€ ${value}` });

const invoices = {
  type: 'data_table',
  caption: 'Invoices of this year',
  row_header_column_index: 1,
  rows: [
    [raw('Date'), raw('Invoice'), raw('Total')],
    ...Array.from({ length: 12 }, (_, index) => [
      raw(`${index + 1} May`),
      raw(`INV-${index + 1}`),
      number(index),
    ]),
  ],
};

const message = (seconds: number, blocks: object[]) => ({
  ts: `${1_772_444_000 + seconds}.000100`,
  user: people.bot,
  text: 'Numbers',
  blocks,
});

const messages = [
  message(1, [chart('bar', axes), chart('line', axes)]),
  message(2, [chart('area', axes), chart('pie', { segments })]),
  message(3, [invoices]),
];

describeInBrowser('charts and data tables', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage();
    host.answer('messages', { messages });
  });
  afterAll(() => host.stop());

  it('are drawn with a mark for each value, their names and their numbers', async () => {
    const page = await browser.openWorkspace(host.url, { viewport: { width: 1200, height: 2200 } });
    const bars = page.getByRole('img', { name: 'Deployments, bar, bar chart' });
    await bars.waitFor();
    expect(await bars.locator('rect').count()).toBe(21);
    expect(await bars.locator('rect').first().locator('title').textContent()).toBe('Succeeded, Mon: 12');
    expect(
      await page
        .getByRole('img', { name: /line chart$/ })
        .locator('polyline')
        .count(),
    ).toBe(3);
    expect(
      await page
        .getByRole('img', { name: /area chart$/ })
        .locator('polygon')
        .count(),
    ).toBe(3);
    expect(
      await page
        .getByRole('img', { name: /pie chart$/ })
        .locator('path')
        .count(),
    ).toBe(2);
    const numbers = page.getByRole('table', { name: 'Deployments, bar' });
    expect(await numbers.getByRole('row', { name: /^Wed/ }).innerText()).toMatch(/9\s+4\s+-9/);
    const rects = await bars.locator('.series-0 rect').all();
    const heights = (await Promise.all(rects.map((one) => one.getAttribute('height')))).map(Number);
    expect(heights.indexOf(Math.max(...heights))).toBe(4);
    expect(Math.min(...heights)).toBeGreaterThan(0);
  });

  it('are leafed through five rows at a time, each known by its row header', async () => {
    const page = await browser.openWorkspace(host.url, { viewport: { width: 1200, height: 2200 } });
    const table = page.getByRole('region', { name: 'Invoices of this year' });
    await table.getByRole('rowheader', { name: 'INV-5', exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBe(6);
    await page.getByRole('button', { name: 'Next' }).click();
    await table.getByRole('rowheader', { name: 'INV-6', exact: true }).waitFor();
    expect(await table.getByRole('rowheader', { name: 'INV-5', exact: true }).count()).toBe(0);
    await page.getByText('2 of 3').waitFor();
  });

  it('have no serious fault for assistive technology, light or dark, and colours of their own in both', async () => {
    const page = await browser.openWorkspace(host.url, {
      colorScheme: 'light',
      viewport: { width: 1200, height: 2200 },
    });
    const bar = page.locator('.series-0 rect').first();
    await bar.waitFor();
    const colour = () => page.evaluate('getComputedStyle(document.querySelector(".series-0 rect")).fill');
    const light = await colour();
    expect(await seriousFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousColourFaults(page)).toEqual([]);
    expect(await colour()).not.toBe(light);
  });
});
