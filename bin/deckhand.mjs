#!/usr/bin/env node
// Starts Deckhand: the bundle in production and where there is nothing else, the sources in development. Plain
// JavaScript for an older system Node; on a fresh clone it installs first, with the pinned Node among the rest.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 24;
const CONFIG_EXIT_CODE = 78;
/** Objects that do not last have 16 MB, not 64, before they are collected: a flood takes eighty MB less for the same CPU. */
const NEW_SPACE = '--max-semi-space-size';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bundle = join(root, 'dist', 'main.js');
const source = join(root, 'src', 'main.ts');
const pinnedNode = join(root, 'node_modules', '.bin', 'node');
const isClone = existsSync(source);
const isProduction = process.env.NODE_ENV === 'production';

const major = Number(process.versions.node.split('.')[0]);

if (isClone) prepare();
start(isClone && !(isProduction && existsSync(bundle)) ? source : bundle);

/** A clone installs with its first start and, in production, bundles itself. */
function prepare() {
  if (isProduction && existsSync(bundle)) return;
  if (!isInstalled('zod')) install();
  if (isProduction && isInstalled('rolldown'))
    run(
      existsSync(pinnedNode) ? pinnedNode : process.execPath,
      [join('scripts', 'build.ts')],
      'npm run build',
    );
}

function isInstalled(name) {
  return existsSync(join(root, 'node_modules', name));
}

/** The bundler and the pinned Node are development dependencies. */
function install() {
  process.stderr.write('Installing what Deckhand needs (first start)…\n');
  const which = isProduction || major < OLDEST_NODE ? '--include=dev' : '--omit=dev';
  run('npm', ['ci', which, '--no-audit', '--no-fund', '--loglevel=error'], `npm ci ${which}`);
}

/** Its output is not for the log on standard output. */
function run(command, args, asTyped) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) end(`What Deckhand needs is not here. Run ${asTyped} in ${root}, then start again.`);
}

/** In place of this process: V8 takes the room for new objects only when it starts. */
function start(entry) {
  const node = major >= OLDEST_NODE ? process.execPath : pinnedNode;
  if (!existsSync(node))
    end(
      `Deckhand needs Node ${OLDEST_NODE} or newer, and this is ${process.version}. Install it, or use the container.`,
    );
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''];
  const flags = given.some((flag) => flag.includes(NEW_SPACE)) ? [] : [`${NEW_SPACE}=16`];
  const args = [...process.execArgv, ...flags, entry, ...process.argv.slice(2)];
  // Code that was compiled once is not compiled again, which halves the start. Without effect where nothing can be written.
  const NODE_COMPILE_CACHE =
    process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'deckhand');
  const env = { ...process.env, NODE_COMPILE_CACHE };
  if (process.execve !== undefined && process.platform !== 'win32')
    return process.execve(node, [node, ...args], env);
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128));
}

function end(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(CONFIG_EXIT_CODE);
}
