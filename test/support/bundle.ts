import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, glob, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, 'node_modules', '.cache', 'deckhand-bundles');
const DAY_MS = 86_400_000;

/** The folder of Deckhand's bundle, which is built where these sources have not been bundled yet. */
export async function bundle(): Promise<string> {
  const folder = join(cache, await hashOfSources());
  if (!existsSync(folder)) await build(folder);
  return join(folder, 'dist');
}

async function hashOfSources(): Promise<string> {
  const paths = ['package.json', 'package-lock.json', 'scripts/build.ts'];
  for await (const path of glob('src/**/*.ts', { cwd: root })) paths.push(path);
  const hash = createHash('sha256');
  for (const path of paths.sort()) hash.update(path).update(await readFile(join(root, path)));
  return hash.digest('hex').slice(0, 16);
}

/** Comes into view all at once, so that two runs may build the same one. */
async function build(folder: string): Promise<void> {
  await removeOld();
  const draft = `${folder}-${randomUUID()}`;
  await mkdir(draft, { recursive: true });
  const args = [join(root, 'scripts', 'build.ts'), join(draft, 'dist')];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  // Deckhand reads its version there.
  await copyFile(join(root, 'package.json'), join(draft, 'package.json'));
  await rename(draft, folder).catch(async (error: unknown) => {
    await rm(draft, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
}

async function removeOld(): Promise<void> {
  for await (const name of glob('*', { cwd: cache })) {
    const path = join(cache, name);
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - DAY_MS) await rm(path, { recursive: true, force: true });
  }
}
