import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Every import of our own files, from and to as paths from the root. */
function ownImports(pattern: string): Array<{ from: string; to: string }> {
  return globSync(pattern, { cwd: root }).flatMap((from) => {
    const text = readFileSync(join(root, from), 'utf8');
    const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
    return targets.map(([, target]) => ({
      from,
      to: relative(root, join(root, dirname(from), target ?? '')),
    }));
  });
}

function packagesOf(pattern: string): Array<{ from: string; name: string }> {
  return globSync(pattern, { cwd: root }).flatMap((from) => {
    const text = readFileSync(join(root, from), 'utf8');
    return [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => ({ from, name: name ?? '' }));
  });
}

const product = ownImports('src/**/*.ts');

/** What a folder of the product may import; its own files always. Files at the top of `src` are listed by name. */
const MAY_NOT: ReadonlyArray<[from: string, to: string]> = [
  ['src/service/', 'src/(?!service/|clock|tracing/tracing)'],
  ['src/views/', 'src/(?!views/|service/|errors)'],
  ['src/store/', 'src/(?!store/|clock|errors)'],
  ['src/engine/', 'src/(?!engine/|store/|clock|errors|log|tracing/tracing)'],
  ['src/slack/', 'src/(?!slack/|store/|views/|clock|errors|log|http|tracing/tracing)'],
  ['src/tracing/', 'src/(?!tracing/|clock|log|patience)'],
  ['src/workspace/', 'src/(front-door/|commands/|follow/|scheduler/|home/|steps/|unfurl/|install/|app|main)'],
  ['src/commands/', 'src/(front-door/|app|main)'],
  ['src/follow/', 'src/(front-door/|scheduler/|steps/|home/|unfurl/|app|main)'],
  ['src/commands/', 'src/(steps/|home/|unfurl/)'],
  ['src/scheduler/', 'src/(front-door/|app|main)'],
  ['src/front-door/', 'src/(app|main|follow/|scheduler/)'],
];

describe('the architecture', () => {
  it.each(MAY_NOT)('%s does not import %s', (from, to) => {
    const forbidden = new RegExp(`^${to}`);
    const broken = product.filter((edge) => edge.from.startsWith(from) && forbidden.test(edge.to));
    expect(broken).toEqual([]);
  });

  it('keeps product and sandbox apart', () => {
    expect(product.filter((edge) => edge.to.startsWith('sandbox/'))).toEqual([]);
    const sandbox = ownImports('sandbox/**/*.{ts,tsx}');
    expect(sandbox.filter((edge) => edge.to.startsWith('src/'))).toEqual([]);
  });

  it('lets the views know neither Bolt nor a client', () => {
    const known = packagesOf('src/views/**/*.ts').filter(
      ({ name }) => !['@slack/types', 'zod'].includes(name),
    );
    expect(known).toEqual([]);
  });

  it('reads the environment in one place only', () => {
    const readers = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
      /process\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(readers.filter((file) => !['src/main.ts', 'src/store/rotate-keys.ts'].includes(file))).toEqual([]);
  });
});
