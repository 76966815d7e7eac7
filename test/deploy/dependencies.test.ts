import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText } from '../support/deployment-files.ts';

const root = join(import.meta.dirname, '..', '..');
const BSD = ['0BSD', 'BSD-2-Clause', 'BSD-3-Clause'];
const ALLOWED = ['MIT', 'ISC', 'Apache-2.0', 'CC0-1.0', 'BlueOak-1.0.0', 'MPL-2.0', 'OFL-1.1', ...BSD];
/** Packages whose package.json names no licence, with the one that their LICENSE file has. */
const READ_FROM_FILE: Record<string, string> = { 'png-js': 'MIT' };

const Names = z.record(z.string(), z.string());
const Project = z.looseObject({ dependencies: Names.default({}), devDependencies: Names });
const Locked = z.looseObject({ dev: z.boolean().optional() });
const Lock = z.looseObject({ packages: z.record(z.string(), Locked) });
const Package = z.looseObject({ name: z.string(), license: z.string().optional() });

const names = ['package.json', 'sandbox/package.json'].flatMap((path) => {
  const { dependencies, devDependencies } = Project.parse(JSON.parse(readText(path)));
  return [...Object.keys(dependencies), ...Object.keys(devDependencies)];
});
const page = readText('docs/dependencies.md');

function licenceOf(folder: string): string {
  const { name, license } = Package.parse(JSON.parse(readText(`${folder}/package.json`)));
  return license ?? READ_FROM_FILE[name] ?? 'none';
}

/** An SPDX expression is fine if one side of each OR, and both of each AND, are. */
function isAllowed(expression: string): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => ALLOWED.includes(one)));
}

/** The rows of the page: package, why, who, licence, replacement. */
function rows(): string[][] {
  return [...page.matchAll(/^\| `.*$/gm)].map(([line]) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

describe('docs/dependencies.md', () => {
  it('has a row for every dependency, in the order of the two package.json, and no other', () => {
    expect(rows().map(([name]) => name)).toEqual(names.map((name) => `\`${name}\``));
  });

  it('says of each why, who, under which licence, and what else', () => {
    for (const [name = '', ...cells] of rows()) {
      expect(cells.filter((cell) => cell !== '').length, name).toBe(4);
      expect(cells[2], name).toBe(licenceOf(`node_modules/${name.replaceAll('`', '')}`));
    }
  });

  it('names the licences that are allowed', () => {
    const [, listed = ''] = /^Allowed: ([\s\S]+?)\.\s+Anything else/m.exec(page) ?? [];
    for (const licence of ALLOWED) expect(listed).toContain(licence);
  });
});

describe('the installed packages', () => {
  const { packages } = Lock.parse(JSON.parse(readText('package-lock.json')));
  const installed = Object.keys(packages).filter(
    (folder) => folder !== '' && existsSync(join(root, folder, 'package.json')),
  );

  it('are all under licences that are allowed', () => {
    expect(installed.length).toBeGreaterThan(names.length);
    const others = installed.map((folder) => `${folder}: ${licenceOf(folder)}`);
    expect(others.filter((line) => !isAllowed(line.replace(/^.*: /, '')))).toEqual([]);
  });

  it('hold no native code in production', () => {
    const production = installed.filter((folder) => packages[folder]?.dev !== true);
    const native = production.flatMap((folder) =>
      globSync(['*.gyp', '*.node', '{build,lib,prebuilds}/**/*.node'], { cwd: join(root, folder) }),
    );
    expect(native).toEqual([]);
  });

  it('run on the pinned Node, as do those of engines, and come from any registry', () => {
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const args = ['ci', '--dry-run', '--offline', '--no-audit', '--loglevel=warn'];
    const { stderr, status } = spawnSync('npm', args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH },
    });
    expect([stderr, status]).toEqual(['', 0]);
    expect(readText('package-lock.json')).not.toMatch(/"resolved": "https?:/);
  });

  it('install without a page of warnings on an older Node, which needs no more than npm', () => {
    expect(readText('.npmrc')).toMatch(/^loglevel=error$/m);
    const { engines } = Project.parse(JSON.parse(readText('package.json')));
    expect(engines).toEqual({ node: '^24 || >=26' });
    for (const path of ['README.md', 'CONTRIBUTING.md'])
      expect(readText(path)).toMatch(/any Node from 20 on[\s\S]*Node 24/);
  });
});
