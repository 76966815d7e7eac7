import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { routeCommand } from '../../src/commands/command-router.ts';
import { allCommands } from '../../src/commands/registry.ts';
import { findProject } from '../../src/workspace/project-list.ts';

const REST = { starred: false, last_deployed_at: null };

/** As the service calls it, and as it arrives after a keyboard, a phone or Slack had it. */
it.each([
  ['Caf\u00e9', 'Cafe\u0301'],
  ['ＥＣサイト', 'ecサイト'],
  ["Joe's Shop", 'Joe’s Shop'],
  ['Joe\'s "best" shop', "Joe's best shop"],
  ['“Best” shop', '"Best" shop'],
  ['Shop — Beta', 'Shop - Beta'],
  ['Wait...', 'Wait…'],
  ['R&D', 'R&amp;D'],
  ['Two words', 'Two\u00a0words'],
  ['joes.shop', '<http://joes.shop|joes.shop>'],
  ['ann@shop.example', '<mailto:ann@shop.example|ann@shop.example>'],
  ['#general', '<#C123|general>'],
  ['🚀 Launch', ':rocket: Launch'],
  ['👋🏽 Hello', ':wave::skin-tone-4: Hello'],
  ['I ❤️ code', 'I :heart: code'],
  ['Acme™', 'Acme:tm:'],
  ['*Star* shop', 'Star shop'],
  ['_under_ ~line~', 'under line'],
  ['İstanbul', 'istanbul'],
  ['Straße', 'STRASSE'],
  ['--account-like', '—account-like'],
  ['???', '???'],
  ['Ann\u200bShop', 'AnnShop'],
  ['Shop :)', 'Shop :slightly_smiling_face:'],
])('%j is found by %j', async (name, typed) => {
  const projects = [
    { name, permalink: 'p-one', identifier: 'id-1', ...REST },
    { name: 'Another', permalink: 'p-two', identifier: 'id-2', ...REST },
  ];
  expect(await findProject(projects, typed)).toBe(projects[0]);
});

it.each([
  ['C++', 'c++'],
  ['C#', 'c#'],
  ['C', 'c'],
  ['my_app', 'my_app'],
  ['myapp', 'MyApp'],
])('%j is meant by %j, although others differ in their signs alone', async (name, typed) => {
  const all = ['C++', 'C#', 'C', 'my_app', 'myapp'];
  const projects = all.map((one, at) => ({ name: one, permalink: `p${at}`, identifier: `i${at}`, ...REST }));
  expect(await findProject(projects, typed)).toMatchObject({ name });
});

it('a name that expands does not hold up others in an account of many projects', async () => {
  const word = 'ﷺ'.repeat(1_400);
  const projects = Array.from({ length: 4_000 }, (_, at) => {
    return { name: `${word}${at}`, permalink: `p${at}`, identifier: `i${at}`, ...REST };
  });
  let isOver = false;
  const search = findProject(projects, word).catch((error: unknown) => error);
  void search.then(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const before = process.threadCpuUsage();
    await setImmediate();
    longest = Math.max(longest, process.threadCpuUsage(before).user / 1_000);
  }
  expect(await search).toMatchObject({ message: expect.stringContaining('Several projects have that name') });
  // Some 10 ms; it was two seconds.
  expect(longest).toBeLessThan(150);
});

it('a command is known in letters of full width too', () => {
  expect(routeCommand(allCommands(), 'ＤＩＧＥＳＴ　ｌｉｓｔ')?.command.name).toBe('digest list');
});
