// Runs a TypeScript entry with the pinned Node, installing first when node_modules is missing or older
// than the lock file. Plain JavaScript, because it may be started by an older system Node.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
const stamp = join(root, 'node_modules', '.installed-lock');
const node = join(root, 'node_modules', '.bin', 'node');

function isInstalled() {
  return existsSync(node) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
}

function install() {
  process.stdout.write('Installing dependencies (first run, or the lock file changed)…\n');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    rmSync(stamp, { force: true });
    process.stderr.write('The installation failed; the reason stands above.\n');
    process.exit(npm.status ?? 1);
  }
  writeFileSync(stamp, lock);
}

if (!isInstalled()) install();
const [entry, ...args] = process.argv.slice(2);
const child = spawn(node, [join(root, entry), ...args], { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128));
