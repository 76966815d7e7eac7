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

/** What a room of the product may import; its own files always. */
const MAY_NOT: ReadonlyArray<[from: string, to: string]> = [
  ['src/core/', 'src/(?!core/)'],
  ['src/service/', 'src/(?!service/|core/|observability/)'],
  ['src/views/', 'src/(?!views/|service/|core/)'],
  ['src/store/', 'src/(?!store/|core/)'],
  ['src/jobs/', 'src/(?!jobs/|core/|observability/)'],
  ['src/observability/', 'src/(?!observability/|core/|jobs/)'],
  ['src/commands/', 'src/(app|main|run|open)'],
  ['src/scheduler/', 'src/(listeners/|app|main|run|open)'],
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
