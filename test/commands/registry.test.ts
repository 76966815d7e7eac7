import { expect, it } from 'vitest';
import { listSynonyms } from '../../src/commands/command-router.ts';
import { allCommands } from '../../src/commands/registry.ts';

it('lets no words mean two commands', () => {
  const meanings = allCommands().flatMap((command) => {
    const { name, alone } = command;
    const others = listSynonyms(command).map(([typed]) => typed);
    return [name, ...(alone === undefined ? [] : [alone]), ...others].map((words) => ({ words, name }));
  });
  const byWords = Map.groupBy(meanings, ({ words }) => words);
  const unclear = [...byWords].flatMap(([words, ones]) =>
    ones.length > 1 ? [`${words}: ${ones.map(({ name }) => name).join(', ')}`] : [],
  );
  expect(unclear, 'Take the words off the `synonyms` of all commands but one.').toEqual([]);
});
