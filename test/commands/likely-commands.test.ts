import fc from 'fast-check';
import { expect, it } from 'vitest';
import { likelyCommands } from '../../src/commands/likely-commands.ts';
import { allCommands } from '../../src/commands/registry.ts';
import { anyText } from '../support/arbitraries.ts';

const COMMANDS = allCommands();
const likely = (sentence: string) => likelyCommands(COMMANDS, sentence).map(({ text }) => text);

it.for([
  ['what was deployed yesterday', 'activity'],
  ['how much is the bill', 'invoices'],
  ['remind us on Mondays', 'digest add'],
  ['can you tset storefront', 'test'],
  ['are our servers reachable', 'test'],
  ['who am I', 'whoami'],
  ['xyzzy', 'help'],
] as const)('"%s" may mean %s', ([sentence, name]) => {
  expect(likely(sentence)).toContain(name);
});

it.for([
  ['tets storefront', 'test storefront'],
  ['please test storefront', 'test storefront'],
  ['can you test storefront please', 'test storefront'],
  ['show me the activity', 'activity'],
  ['run the test for storefront', 'test'],
] as const)('"%s" offers `%s` first', ([sentence, line]) => {
  expect(likely(sentence)[0]).toBe(line);
});

it('words that are a command come first, as they are, and are stored first where they change something', () => {
  expect(likelyCommands(COMMANDS, 'test storefront')[0]).toEqual({
    text: 'test storefront',
    isDurable: true,
  });
  expect(likelyCommands(COMMANDS, 'projects shop')[0]).toEqual({ text: 'projects shop', isDurable: false });
});

it('whatever is said, there are three, each once, and a person who may run nothing gets none', () => {
  fc.assert(
    fc.property(anyText(), (sentence) => {
      expect(new Set(likely(sentence)).size).toBe(3);
      expect(likelyCommands([], sentence)).toEqual([]);
    }),
  );
});
