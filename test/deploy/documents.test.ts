import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allCommands } from '../../src/commands/registry.ts';
import { readText } from '../support/deployment-files.ts';

describe('docs/guide.md', () => {
  it('shows no command that there is not', () => {
    const examples = [...readText('docs/guide.md').matchAll(/\/deckhand ?([^`\n]*)/g)];
    const firstWords = examples.map(([, words = '']) => words.trim().split(' ')[0] ?? '');
    const known = new Set(['', ...allCommands().map(({ name }) => name.split(' ')[0])]);
    expect(firstWords.filter((word) => !known.has(word))).toEqual([]);
  });
});

describe('docs/marketplace.md', () => {
  const page = readText('docs/marketplace.md');

  it('says of each point what answers it, and whether it is answered', () => {
    const rows = [...page.matchAll(/^\| (?!Slack asks|---)(.+) \|$/gm)].map(([, row = '']) =>
      row.split(' | '),
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const cells of rows) {
      expect(cells.length, cells[0]).toBe(3);
      expect(['answered', 'yours', 'ask', 'open'], cells[0]).toContain(cells[2]);
    }
  });

  it('claims of the manifest what the manifest says', () => {
    const { oauth_config: oauth, features } = parse(readText('manifest.yml'));
    const words = [
      'no',
      'one',
      'two',
      'three',
      'four',
      'five',
      'six',
      'seven',
      'eight',
      'nine',
      'ten',
      'eleven',
      'twelve',
    ];
    expect(page).toContain(`${words[oauth.scopes.bot.length]} bot scopes`);
    expect(oauth.scopes.user).toBeUndefined();
    expect(oauth.scopes.bot.join()).not.toMatch(/history|chat:write\.|search|admin/);
    expect(features.app_home.messages_tab_read_only_enabled).toBe(true);
  });
});
