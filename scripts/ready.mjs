// Runs a TypeScript entry with the pinned Node, installing first when node_modules is missing or older
// than the lock file. Plain JavaScript, because it may be started by an older system Node.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const lock = join(root, 'package-lock.json');
// npm writes this file at the end of each installation.
const installed = join(root, 'node_modules', '.package-lock.json');
const node = join(root, 'node_modules', '.bin', 'node');

function isInstalled() {
  return existsSync(node) && existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

function install() {
  process.stdout.write('Installing dependencies (first run, or the lock file changed)…\n');
  const npm = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    process.stderr.write('The installation failed; the reason stands above.\n');
    process.exit(npm.status ?? 1);
  }
  // A lock file that was touched but not changed must not install again and again.
  const now = new Date();
  utimesSync(installed, now, now);
}

if (!isInstalled()) install();
const [entry, ...args] = process.argv.slice(2);
const child = spawn(node, [join(root, entry), ...args], { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128));
