import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { fewMessages } from './fixture-messages.ts';
import { formView } from './fixture-views.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

describeInBrowser('modals on the page', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage(fewMessages);
    host.answer('views', { views: [formView] });
    host.answer('views/close', { ok: true });
  });
  afterAll(() => host.stop());

  const openForm = async (): Promise<Page> => {
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('dialog', { name: 'Add a server' }).waitFor();
    return page;
  };

  it('shows labels, hints, optional marks and presets, and starts in the first field', async () => {
    const page = await openForm();
    const name = page.getByRole('textbox', { name: 'Name' });
    expect(await name.and(page.locator(':focus')).count()).toBe(1);
    expect(await describedBy(name)).toBe('Letters, digits and dashes');
    expect(await page.getByLabel('Contact (optional)').getAttribute('placeholder')).toBe('you@example.com');
    expect(await page.getByLabel('Port').inputValue()).toBe('22');
    expect(await page.getByLabel('At', { exact: true }).inputValue()).toBe('09:30');
    expect(await page.getByRole('radio', { name: 'Small' }).isChecked()).toBe(true);
  });

  it('submits every field in Slack’s words, and puts the app’s faults under its fields', async () => {
    const pending = Promise.withResolvers<Record<string, unknown>>();
    host.answer('views/submit', () => pending.promise);
    const page = await openForm();
    await fillForm(page);
    const sent = host.nextPost('views/submit');
    await page.getByRole('button', { name: 'Add server' }).click();
    expect(await sent).toMatchObject({
      view_id: formView.id,
      state: {
        values: {
          name: { name: { type: 'plain_text_input', value: 'web-8' } },
          protocol_type: { protocol_type: { selected_option: { value: 'vps' } } },
          email: { email: { value: null } },
          port: { port: { type: 'number_input', value: '22' } },
          region: { region: { selected_options: [{ value: 'lis' }, { value: 'osa' }] } },
          flags: { flags: { selected_options: [{ value: 'send_on_failure' }] } },
          plan: { plan: { selected_option: { value: 'large' } } },
          day: { day: { selected_date: '2026-03-02' } },
          hour: { hour: { selected_time: '09:30' } },
          notes: { notes: { value: null } },
        },
      },
    });
    await page.locator('button[aria-busy=true]').waitFor();
    pending.resolve({ ok: false, errors: { name: 'web-8 is taken' } });
    const name = page.getByRole('textbox', { name: 'Name' });
    await page.getByText('web-8 is taken').waitFor();
    expect(await describedBy(name)).toContain('web-8 is taken');
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await name.fill('web-9');
    await page.getByText('web-8 is taken').waitFor({ state: 'detached' });
  });

  it('says on top when the app did not answer', async () => {
    host.answer('views/submit', { ok: false, error: 'operation_timeout' });
    const page = await openForm();
    await fillForm(page);
    await page.getByRole('button', { name: 'Add server' }).click();
    await page.getByRole('alert').getByText('We had some trouble connecting. Try again?').waitFor();
  });

  it('dispatches what asks for it, and keeps what was typed when the app updates the view', async () => {
    const page = await openForm();
    await page.getByRole('textbox', { name: 'Name' }).fill('web-8');
    host.answer('actions', { ok: true });
    const sent = host.nextPost('actions');
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Static hosting' }).click();
    expect(await sent).toMatchObject({
      container: { type: 'view', view_id: formView.id },
      action: { type: 'static_select', action_id: 'protocol_type', selected_option: { value: 'static' } },
      state: { values: { name: { name: { value: 'web-8' } } } },
    });
    const subdomain = {
      type: 'input',
      block_id: 'subdomain',
      label: { type: 'plain_text', text: 'Subdomain' },
      element: { type: 'plain_text_input', action_id: 'subdomain' },
    };
    const updated = { ...formView, hash: '2', blocks: [...formView.blocks.slice(0, 3), subdomain] };
    host.push({ type: 'views', views: [updated] });
    await page.getByLabel('Subdomain').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('web-8');
    expect(await page.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('Static hosting');
  });

  it('pushes a view on top and comes back to the one below as it was left', async () => {
    const page = await openForm();
    await page.getByRole('textbox', { name: 'Name' }).fill('web-8');
    const above = {
      ...formView,
      id: 'V0ABOVE001',
      title: { type: 'plain_text', text: 'Are the sizes right?' },
    };
    host.push({ type: 'views', views: [formView, above] });
    const upper = page.getByRole('dialog', { name: 'Are the sizes right?' });
    await upper.waitFor();
    const closed = host.nextPost('views/close');
    await upper.getByRole('button', { name: 'Back' }).click();
    expect(await closed).toMatchObject({ view_id: 'V0ABOVE001', all: false });
    host.push({ type: 'views', views: [formView] });
    await page.getByRole('dialog', { name: 'Add a server' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('web-8');
  });
});

async function fillForm(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Name' }).fill('web-8');
  await page.getByRole('combobox', { name: 'Kind' }).fill('vps');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Regions' }).click();
  await page.getByRole('option', { name: 'Lisbon' }).click();
  await page.getByRole('option', { name: 'Osaka' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: 'When it fails' }).check();
  await page.getByRole('radio', { name: 'Large' }).check();
}

/** The text that assistive technology reads after a field's name. */
async function describedBy(field: Locator): Promise<string> {
  const ids = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
  const texts = await Promise.all(ids.map((id) => field.page().locator(`[id="${id}"]`).innerText()));
  return texts.join(' ');
}
