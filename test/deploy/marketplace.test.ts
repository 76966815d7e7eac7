import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readText } from '../support/deployment-files.ts';

const page = readText('docs/marketplace.md');
const rows = [...page.matchAll(/^\| (?!Slack asks|---)(.+) \|$/gm)].map(([, row = '']) => row.split(' | '));
const manifest = parse(readText('manifest.yml'));

describe('docs/marketplace.md', () => {
  it('says of each point what answers it, and whether it is answered', () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const cells of rows) {
      expect(cells.length, cells[0]).toBe(3);
      expect(['answered', 'yours', 'ask', 'open'], cells[0]).toContain(cells[2]);
    }
  });

  it('calls no page open that Deckhand serves', () => {
    const pages = rows.filter(([, answer = '']) => /`\/(privacy)?`/.test(answer));
    expect(pages.length).toBeGreaterThan(1);
    for (const [asked, answer, state] of pages)
      expect(`${answer} ${state}`, asked).not.toMatch(/not built|open$/);
  });

  it('claims of the manifest what the manifest says', () => {
    const { bot, user } = manifest.oauth_config.scopes;
    const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
    expect(page).toContain(`${words[bot.length]} bot scopes`);
    expect(user).toBeUndefined();
    expect(bot.join()).not.toMatch(/history|chat:write\.|search|admin/);
    expect(page).toContain(
      `${words[manifest.display_information.description.split(' ').length]} words in the manifest`,
    );
    expect(manifest.features.app_home.messages_tab_read_only_enabled).toBe(true);
  });
});
