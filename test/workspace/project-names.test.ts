import { expect, it } from 'vitest';
import { routeCommand } from '../../src/commands/command-router.ts';
import { allCommands } from '../../src/commands/registry.ts';
import { findProject } from '../../src/workspace/projects.ts';

const [cafe, shop] = [
  { name: 'Caf\u00e9', permalink: 'cafe', identifier: 'p-1' },
  { name: 'ＥＣサイト', permalink: 'shop', identifier: 'p-2' },
].map((project) => ({ ...project, starred: false, repository: undefined }));
const projects = [cafe, shop] as unknown as Parameters<typeof findProject>[0];

it.each([
  ['Cafe\u0301', cafe],
  ['ＣＡＦＥ', cafe],
  ['ecサイト', shop],
  ['ＥＣサイト', shop],
  ['ｐ－２', shop],
])('%s names a project however its letters are composed and however wide they are', (typed, project) => {
  expect(findProject(projects, typed)).toBe(project);
});

it('a command is known in letters of full width too', () => {
  expect(routeCommand(allCommands(), 'ＤＩＧＥＳＴ　ｌｉｓｔ')?.command.name).toBe('digest list');
});
