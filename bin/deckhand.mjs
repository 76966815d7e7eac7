#!/usr/bin/env node
// Starts Deckhand: the bundle in production and where there is nothing else, the sources in development. Plain
// JavaScript for an older system Node; on a fresh clone it installs first, with the pinned Node among the rest.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST_NODE = 24;
const CONFIG_EXIT_CODE = 78;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bundle = join(root, 'dist', 'main.js');
const source = join(root, 'src', 'main.ts');
const pinnedNode = join(root, 'node_modules', '.bin', 'node');
const isClone = existsSync(source);
const isProduction = process.env.NODE_ENV === 'production';

if (isClone && !(isProduction && existsSync(bundle))) prepare();
await start(!isClone || isProduction ? bundle : source);

/** What the sources, or their bundle, need. */
function prepare() {
  if (!existsSync(join(root, 'node_modules', 'zod'))) install();
  if (isProduction)
    run(existsSync(pinnedNode) ? pinnedNode : process.execPath, [join('scripts', 'build.ts')]);
}

function install() {
  process.stderr.write('Installing what Deckhand needs (first start)…\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev']);
}

/** Its output is not for the log on standard output. */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  end(
    'Deckhand could not be prepared; the reason stands above. Run npm ci --omit=dev, then npm start again.',
  );
}

async function start(entry) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= OLDEST_NODE) return import(pathToFileURL(entry).href);
  if (!existsSync(pinnedNode))
    end(
      `Deckhand needs Node ${OLDEST_NODE} or newer, and this is ${process.version}. Install it, or use the container.`,
    );
  // In place of this process, as far as signals go.
  const { spawn } = await import('node:child_process');
  const child = spawn(pinnedNode, [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128));
}

function end(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(CONFIG_EXIT_CODE);
}
