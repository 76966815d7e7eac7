import { describe, expect, it } from 'vitest';
import { allCommands } from '../../src/commands/registry.ts';
import { readText } from '../support/deployment-files.ts';

const guide = readText('docs/guide.md');
const commands = allCommands();
/** What stands after the slash word, in each example of the guide. */
const examples = [...guide.matchAll(/\/deckhand ?([^`\n]*)/g)].map(([, words = '']) => words.trim());

describe('docs/guide.md', () => {
  it('shows no command that there is not', () => {
    const firstWords = new Set(commands.map(({ name }) => name.split(' ')[0]));
    const others = examples.filter((words) => words !== '' && !firstWords.has(words.split(' ')[0]));
    expect(others).toEqual([]);
  });

  it('shows the pictures that there are', () => {
    for (const name of ['test-run', 'integration-add', 'digest', 'home'])
      expect(guide).toContain(`](pictures/${name}.png)`);
  });
});
