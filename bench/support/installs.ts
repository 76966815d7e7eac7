import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Dependencies = z.record(z.string(), z.string()).default({});
const Installed = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: Dependencies,
      optionalDependencies: Dependencies,
      peerDependencies: Dependencies,
    }),
  ),
});
type Packages = z.output<typeof Installed>['packages'];

export interface Install {
  /** Bytes on the disk, in whole blocks. */
  bytes: number;
  /** Largest first; `path` begins with `node_modules/`. */
  packages: Array<{ path: string; name: string; bytes: number }>;
  /** Which of these packages bring the one at this path, straight or through others. */
  broughtBy(path: string, direct: readonly string[]): string[];
}

/** Installs what the folder's package.json says, as for production, and weighs it. */
export function install(folder: string, command: 'ci' | 'install'): Install {
  execFileSync('npm', [command, '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const modules = join(folder, 'node_modules');
  const text = readFileSync(join(modules, '.package-lock.json'), 'utf8');
  const { packages } = Installed.parse(JSON.parse(text));
  const weighed = Object.keys(packages).map((path) => ({
    path,
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    bytes: bytesOf(join(folder, path), false),
  }));
  return {
    bytes: bytesOf(modules, true),
    packages: weighed.toSorted((a, b) => b.bytes - a.bytes),
    broughtBy: (path, direct) =>
      direct.filter((name) => reachedFrom(packages, `node_modules/${name}`).has(path)),
  };
}

/** @param whole with the packages that a package keeps in a folder of its own */
function bytesOf(path: string, whole: boolean): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!whole && entry.name === 'node_modules') continue;
    const inside = join(path, entry.name);
    bytes += lstatSync(inside).blocks * 512;
    if (entry.isDirectory()) bytes += bytesOf(inside, whole);
  }
  return bytes;
}

function reachedFrom(packages: Packages, start: string): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const found = packages[path];
    if (found === undefined || reached.has(path)) continue;
    reached.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = found;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      open.push(resolve(packages, path, name));
  }
  return reached;
}

/** Where Node finds `name` from the package at `path`: in its own folder, or further out. */
function resolve(packages: Packages, path: string, name: string): string {
  for (let from = path; from !== ''; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    const inside = `${from}/node_modules/${name}`;
    if (inside in packages) return inside;
  }
  return `node_modules/${name}`;
}
