import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { fewMessages } from './fixture-messages.ts';
import { workspace } from './fixture-workspace.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

describeInBrowser('the inspector', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage(fewMessages);
  });
  afterAll(() => host.stop());

  it('lists deliveries with status and ack latency, the newest first, and unfolds them', async () => {
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    const list = page.getByRole('list', { name: 'Deliveries' });
    const lines = await list.getByRole('listitem').allInnerTexts();
    expect(lines.map((line) => line.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^app_home_opened .*event · attempt 2 no answer — no answer within 3 s$/),
      expect.stringMatching(/^again .*block_actions 200 2105 ms$/),
      expect.stringMatching(/^\/deckhand test storefront .*command 200 14 ms$/),
    ]);
    await list.getByRole('button', { name: /test storefront/ }).click();
    expect(await list.locator('pre').innerText()).toContain('"text": "test storefront"');
    const started = { id: '4', at: 1_772_444_010_000, kind: 'view_submission', name: 'connect', attempt: 1 };
    host.push({ type: 'delivery', delivery: { ...started, status: null, ack_ms: null, payload: {} } });
    await list.getByText('waiting').waitFor();
    host.push({ type: 'delivery', delivery: { ...started, status: 200, ack_ms: 31, payload: {} } });
    await list.getByText('31 ms').waitFor();
  });

  it('lists Web API calls with their errors', async () => {
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('tab', { name: 'API calls' }).click();
    const [last] = await page.getByRole('list', { name: 'API calls' }).getByRole('listitem').allInnerTexts();
    expect(last?.replaceAll(/\s+/g, ' ')).toMatch(/^chat\.update .* 429 1 ms ratelimited$/);
    await page.getByRole('button', { name: /chat\.postMessage .* · Test access of Storefront/ }).waitFor();
  });

  it('switches faults, and says when that did not work', async () => {
    host.answer('controls', { ok: true });
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('tab', { name: 'Faults' }).click();
    const slack = page.getByRole('switch', { name: 'Slack answers 429' });
    const sent = host.nextPost('controls');
    await slack.click();
    expect(await sent).toEqual({ id: 'slack_429', on: true });
    const controls = workspace.controls.map((control) => ({ ...control, on: true }));
    host.push({ type: 'controls', controls });
    await page.getByRole('switch', { name: 'Slack answers 429', checked: true }).waitFor();
    host.answer('controls', { ok: false, error: 'it is gone' });
    await page.getByRole('button', { name: 'Restart Deckhand' }).click();
    await page.getByRole('alert').getByText('“Restart Deckhand” did not work: it is gone').waitFor();
  });

  it('keeps faults of one kind under their heading, which says how many are on', async () => {
    const grouped = { kind: 'switch', group: 'Threads' };
    const locked = { ...grouped, id: 'locked', label: 'Threads are locked', hint: 'thread_locked', on: true };
    const none = { ...grouped, id: 'none', label: 'Channels have no threads', on: false };
    host.answer('workspace', { ...workspace, controls: [...workspace.controls, locked, none] });
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('tab', { name: 'Faults' }).click();
    await page.getByRole('switch', { name: 'Slack answers 429' }).waitFor();
    expect(await page.getByRole('switch', { name: 'Threads are locked' }).isVisible()).toBe(false);
    await page.getByText(/^Threads\s*1 on$/).click();
    await page.getByRole('switch', { name: 'Threads are locked', checked: true }).waitFor();
    host.answer('controls', { ok: true });
    const sent = host.nextPost('controls');
    await page.getByRole('switch', { name: 'Channels have no threads' }).click();
    expect(await sent).toEqual({ id: 'none', on: true });
    host.answer('workspace', workspace);
  });

  it('has no faults to switch where the server offers none', async () => {
    host.answer('workspace', { ...workspace, controls: [] });
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Message', 'Deliveries', 'API calls']);
    host.answer('workspace', workspace);
  });

  it('turns dark and light by a switch that is remembered', async () => {
    const page = await browser.openWorkspace(host.url, { colorScheme: 'light' });
    const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).toBe('rgb(21, 25, 29)');
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).click();
    expect(await ground()).toBe('rgb(255, 255, 255)');
  });
});
