import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..');

/** What the tarball has in another form. Meanwhile the file itself has another name. */
const CHANGED: Readonly<Record<string, (text: string, path: string) => string>> = {
  'package.json': reduce,
  'README.md': introduce,
  'docs/operations.md': unlink,
  'docs/log-events.md': unlink,
};

/**
 * Around `npm pack`: the tarball has the bundle, a package.json without dependencies, and documents that link to
 * nothing that it lacks. An interrupted `npm pack` is put right by the next one.
 */
switch (process.argv[2]) {
  case 'before':
    restore();
    execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    for (const [path, change] of Object.entries(CHANGED)) {
      const text = readFileSync(join(root, path), 'utf8');
      renameSync(join(root, path), keptName(path));
      writeFileSync(join(root, path), change(text, path));
    }
    break;
  case 'after':
    restore();
    break;
  default:
    process.stderr.write('Run npm pack.\n');
    process.exitCode = 64;
}

/** npm packs whatever begins with README. */
function keptName(path: string): string {
  return join(root, dirname(path), `.${basename(path)}.kept`);
}

function restore(): void {
  for (const path of Object.keys(CHANGED))
    if (existsSync(keptName(path))) renameSync(keptName(path), join(root, path));
}

function reduce(text: string): string {
  const { name, version, description, license, type, bin, files, engines } = JSON.parse(text);
  const reduced = { name, version, description, license, type, bin, files, engines };
  return `${JSON.stringify(reduced, null, 2)}\n`;
}

/** The title and what Deckhand is; how a clone is tried and tested is of no use here. */
function introduce(text: string): string {
  const [title, what] = text.split('\n\n');
  const next =
    '`npx deckhand --help` says how it is used, and [docs/operations.md](docs/operations.md) how it is run.';
  return `${[title, what, next].join('\n\n')}\n`;
}

/** Links to what is not in the tarball become text, and pictures go. */
function unlink(text: string, path: string): string {
  const packed: string[] = [
    ...JSON.parse(readFileSync(keptName('package.json'), 'utf8')).files,
    'README.md',
    'LICENSE',
  ];
  return text.replaceAll(
    /(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g,
    (link, picture, words, target) => {
      const file = normalize(join(dirname(path), target));
      const isPacked = packed.some((each) => file === each || file.startsWith(`${each}/`));
      if (isPacked) return link;
      return picture === '' ? words : '';
    },
  );
}
