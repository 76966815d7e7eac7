import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Installs an npm package at an exact version outside of the repository, once a machine. Its folder is the answer. */
export function installOutside(name: string, version: string): string {
  const folder = join(tmpdir(), 'deckhand-outside', `${name.replaceAll(/\W+/g, '-')}-${version}`);
  const installed = join(folder, 'node_modules', name);
  if (existsSync(join(folder, 'installed'))) return installed;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const options = ['--no-audit', '--no-fund', '--save-exact', '--ignore-scripts'];
  const npm = spawnSync('npm', ['install', ...options, `${name}@${version}`], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (npm.status !== 0) throw new Error(`npm could not install ${name} ${version}`);
  // Written last: an installation that was interrupted begins anew.
  writeFileSync(join(folder, 'installed'), '');
  return installed;
}
