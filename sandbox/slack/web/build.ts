import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pictures } from './build-pictures.ts';

const here = import.meta.dirname;
const lockFile = join(here, '..', '..', '..', 'package-lock.json');
const KEPT_BUILDS = 3;

/**
 * Builds the page unless this very state of its sources was built before (about 2 s, nothing when it was).
 * Safe to call from several processes at once.
 * @returns the absolute path of the folder that holds `index.html` and everything it loads
 */
export async function buildPage(): Promise<string> {
  const target = join(here, 'dist', await fingerprint());
  if (existsSync(join(target, 'index.html'))) return target;
  const draft = `${target}.${process.pid}`;
  await bundle(draft);
  await settle(draft, target);
  await prune();
  return target;
}

async function bundle(outDir: string): Promise<void> {
  // Loaded when something is built only: they are slow to load, and mostly nothing is.
  const [{ build }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')]);
  await build({
    root: here,
    base: './',
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    plugins: [react(), pictures()],
    // The same page comes out whatever NODE_ENV the caller runs under, a test runner's included.
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { development: false } },
    resolve: { conditions: ['module', 'browser', 'production'] },
    // Small fonts and pictures would become data: addresses, which the page's policy does not load.
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: false,
      target: 'es2023',
      chunkSizeWarningLimit: 600,
    },
  });
}

/** Another process may have finished the same build first: then its result stands and ours goes. */
async function settle(draft: string, target: string): Promise<void> {
  try {
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(join(target, 'index.html'))) throw error;
  }
}

async function fingerprint(): Promise<string> {
  const files = await readdir(join(here, 'src'), { recursive: true, withFileTypes: true });
  const sources = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  const hash = createHash('sha256');
  const extra = ['index.html', 'build.ts', 'build-pictures.ts'].map((name) => join(here, name));
  for (const path of [...sources.sort(), ...extra, lockFile]) hash.update(path).update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}

async function prune(): Promise<void> {
  const dist = join(here, 'dist');
  await mkdir(dist, { recursive: true });
  const builds = await Promise.all((await readdir(dist)).map((name) => withAge(join(dist, name))));
  const old = builds.sort((a, b) => b.at - a.at).slice(KEPT_BUILDS);
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}

/** A build that vanishes while we look was pruned by another process. */
async function withAge(path: string): Promise<{ path: string; at: number }> {
  const at = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  return { path, at };
}
