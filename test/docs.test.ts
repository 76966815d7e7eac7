import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { drawCommandTable } from '../scripts/command-table.ts';
import { EVENT_TYPES } from '../src/app.ts';
import { allCommands } from '../src/commands/registry.ts';
import { GROUPS_SCOPE, SCOPE_NAMES } from '../src/slack/scopes.ts';

interface FunctionSpec {
  input_parameters: Record<string, { name: string }>;
  output_parameters: Record<string, { name: string }>;
}

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const commands = allCommands();

describe('the documentation', () => {
  it('lists every command in the guide as the registry has it', () => {
    expect(read('docs/guide.md'), 'npm run guide writes the table').toContain(drawCommandTable());
  });

  it('shows pictures that are there, are shown, and are small', () => {
    const pages = read('README.md') + read('docs/guide.md');
    const shown = new Set([...pages.matchAll(/\]\((?:docs\/)?pictures\/([^)]+)\)/g)].map(([, name]) => name));
    expect(
      readdirSync(join(root, 'docs/pictures')).toSorted(),
      'Show each picture in README.md or docs/guide.md, or delete it.',
    ).toEqual([...shown].toSorted());
    for (const name of shown)
      expect(
        statSync(join(root, 'docs/pictures', name ?? '')).size,
        `${name} makes the page slow: take it again in fewer pixels.`,
      ).toBeLessThan(170_000);
  });

  it('links only to files that are there', () => {
    const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];
    for (const page of pages.filter((name) => name.endsWith('.md')))
      for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
        expect(existsSync(join(root, page, '..', target)), `${page} links to ${target}, which is gone`).toBe(
          true,
        );
  });

  it('names only files of src/ and test/ that are there', () => {
    const files = globSync('{src,test}/**/*.ts', { cwd: root });
    const pages = ['CONTRIBUTING.md', 'docs/architecture.md', ...globSync('src/**/README.md', { cwd: root })];
    for (const page of pages)
      for (const [, name = ''] of read(page).matchAll(/`([\w./-]+\.ts)`/g))
        expect(
          files.some((file) => `/${file}`.endsWith(`/${name}`)),
          `${page} names ${name}, which is gone or has another name`,
        ).toBe(true);
  });
});

/** What Slack takes in it is in `scripts/slack-manifest-schema.ts`. */
describe('the manifest', () => {
  const manifest = parse(read('manifest.yml'));

  it('of the code names in its comments only what there is', () => {
    const text = globSync('src/**/*.ts', { cwd: root }).map(read).join('\n');
    const comment = /\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm;
    const known = new Set(text.replaceAll(comment, '').match(/\w+/g));
    const named = [...text.matchAll(comment)].flatMap(
      ([words]) => words.match(/(?<=`)[a-z]+[A-Z]\w*(?=[`(])/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(10);
    expect(
      named.filter((name) => !known.has(name)),
      'A comment of src/ names something that is gone: use its new name.',
    ).toEqual([]);
  });

  it('hints at the commands that there are', () => {
    const [command] = manifest.features.slash_commands;
    const hinted = String(command.usage_hint).split(' | ');
    const names = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''));
    expect(
      hinted.filter((word) => !names.has(word)),
      'Mend `usage_hint` in manifest.yml.',
    ).toEqual([]);
  });

  it('offers the shortcuts that there are', () => {
    const known = commands.flatMap(({ shortcuts = [] }) => shortcuts);
    const shortcuts = known.map(({ name, kind: type, callbackId: callback_id, description }) => ({
      name,
      type,
      callback_id,
      description,
    }));
    const byId = (one: { callback_id: string }, other: { callback_id: string }) =>
      one.callback_id.localeCompare(other.callback_id);
    expect(
      manifest.features.shortcuts.toSorted(byId),
      'Copy the command’s `shortcuts` to `features.shortcuts` of manifest.yml.',
    ).toEqual(shortcuts.toSorted(byId));
  });

  it('names the parameters of each step for Workflow Builder by their keys, and menus of functions that fill them', () => {
    const parameters = Object.values<FunctionSpec>(manifest.functions).flatMap((step) =>
      [step.input_parameters, step.output_parameters].flatMap((each) => Object.entries(each)),
    );
    for (const [key, { name }] of parameters) expect(name).toBe(key);
    const menus = JSON.stringify(manifest.functions).matchAll(/"#\/functions\/(\w+)"/g);
    for (const [, name = ''] of menus)
      expect(manifest.functions[name].output_parameters).toHaveProperty('options');
  });

  it('subscribes to the events that are handled, and no other', () => {
    expect(
      [...manifest.settings.event_subscriptions.bot_events].sort(),
      'Add the event to `bot_events` of manifest.yml, or its handler to EVENT_HANDLERS of src/app.ts.',
    ).toEqual([...EVENT_TYPES].sort());
  });

  it('asks for the scopes that have a reason, and no other', () => {
    const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
    expect(
      [...bot].sort(),
      'A scope is in `scopes.bot` of manifest.yml and, with its reason, in SCOPES of src/slack/scopes.ts.',
    ).toEqual([...SCOPE_NAMES, GROUPS_SCOPE].sort());
    expect(bot.filter((scope: string) => !optional.includes(scope))).toEqual([
      'commands',
      'chat:write',
      'users:read',
    ]);
  });
});

describe('the registry', () => {
  it('has every command file, and nothing twice', () => {
    const names = commands.map(({ name }) => name);
    expect(
      names.filter((name, at) => names.indexOf(name) !== at),
      'Two commands have this name.',
    ).toEqual([]);
    const files = globSync('**/*.ts', { cwd: join(root, 'src/commands') }).filter((file) =>
      /^export const \w+ = defineCommand\(/m.test(read(`src/commands/${file}`)),
    );
    const registry = read('src/commands/registry.ts');
    expect(
      files.filter((file) => !registry.includes(`'./${file}'`)),
      'Add its command to a group of src/commands/registry.ts.',
    ).toEqual([]);
  });
});
