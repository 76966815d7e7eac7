import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findLikelyCommands } from '../../src/commands/likely-commands.ts';
import { allCommands } from '../../src/commands/registry.ts';
import { NameIndex } from '../../src/core/names.ts';
import { anyText } from '../support/arbitraries.ts';

const COMMANDS = allCommands();
const REST = { last_deployed_at: null, starred: false };
const likely = (sentence: string) => findLikelyCommands(COMMANDS, sentence).map(({ text }) => text);

it.for([
  ['tets storefront', 'test storefront'],
  ['deploymnets', 'deployments'],
  ['can you test storefront please', 'test storefront'],
  ['show me the activity', 'activity'],
  ['how many deployments last week?', 'activity'],
] as const)('"%s" offers `%s` first', ([sentence, line]) => {
  expect(likely(sentence)[0]).toBe(line);
});

it.for([
  ['is the storefront ok?', 'test storefront'],
  ['can you test it, the storefront I mean', 'test storefront'],
] as const)('"%s" names a project, and offers `%s`', ([sentence, line]) => {
  const projects = [
    { name: 'Storefront', permalink: 'storefront', identifier: 'p-1', ...REST },
    { name: 'Back office', permalink: 'back-office', identifier: 'p-2', ...REST },
  ];
  expect(findLikelyCommands(COMMANDS, sentence, new NameIndex(projects))[0]).toEqual({
    text: line,
    isDurable: true,
  });
});

it('words that are a command come first, as they are, and are stored first only where they change something', () => {
  expect(findLikelyCommands(COMMANDS, 'projects shop')[0]).toEqual({
    text: 'projects shop',
    isDurable: false,
  });
});

it('whatever is said, there are three, each once, and a person who may run nothing gets none', () => {
  fc.assert(
    fc.property(anyText(), (sentence) => {
      expect(new Set(likely(sentence)).size).toBe(3);
      expect(findLikelyCommands([], sentence)).toEqual([]);
    }),
  );
});
