import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..');
const manifest = join(root, 'package.json');
const kept = join(root, '.package.json.kept');

/**
 * Around `npm pack`: the tarball has the bundle and a package.json without the packages, which are all in the bundle and which
 * npm would install again. An interrupted `npm pack` is put right by the next one.
 */
switch (process.argv[2]) {
  case 'before':
    restore();
    execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    reduce();
    break;
  case 'after':
    restore();
    break;
  default:
    process.stderr.write('Run npm pack.\n');
    process.exitCode = 64;
}

function reduce(): void {
  const text = readFileSync(manifest, 'utf8');
  const { name, version, description, license, type, bin, files } = JSON.parse(text);
  const engines = { node: '>=24' };
  const reduced = { name, version, description, license, type, bin, files, engines };
  renameSync(manifest, kept);
  writeFileSync(manifest, `${JSON.stringify(reduced, null, 2)}\n`);
}

function restore(): void {
  if (existsSync(kept)) renameSync(kept, manifest);
}
