import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Row {
  statement: string;
  treatment: string;
  proofs: string[];
}

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'spec-coverage.md'), 'utf8');
const rows: Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:§|---)/.test(line))
  .map((line) => {
    const [statement = '', treatment = '', proof = ''] = line.slice(2, -2).split(' | ');
    return { statement, treatment, proofs: [...proof.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner) };
  })
  .flatMap(({ statement, treatment, proofs }) =>
    eachField(statement).map((one) => ({
      statement: one,
      treatment,
      proofs: proofs.map((proof) => (proof === 'spec-fields' ? `spec-fields: ${one}` : proof)),
    })),
  );

/** `2.3 first_name, last_name` is two. */
function eachField(statement: string): string[] {
  const [, section, fields = ''] = /^(2\.\d+) (.+)$/.exec(statement) ?? [];
  return section === undefined ? [statement] : fields.split(', ').map((field) => `${section} ${field}`);
}

const sources = new Map<string, string>();
function sourceOf(name: string): string {
  const folder = name.startsWith('sandbox/') ? name.replace('sandbox/', 'sandbox/test/') : `test/${name}`;
  const path = join(import.meta.dirname, '..', `${folder}.test.ts`);
  const known = sources.get(path) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
  sources.set(path, known);
  return known;
}

/** @param proof the file, and words of a title in it */
function isThere(proof: string): boolean {
  const [, file = '', title = ''] = /^([\w/.-]+): (.{4,})$/.exec(proof) ?? [];
  return title !== '' && sourceOf(file).includes(title);
}

describe('the page of what proves the specification', () => {
  it('has all sections of the specification, and every field that it answers', () => {
    const sections = new Set(rows.map(({ statement }) => statement.slice(0, 1)));
    for (const section of '123456789') expect(sections).toContain(section);
    const fields = sourceOf('spec-fields').matchAll(/\['(2\.\d+ [\w.]+)'/g);
    const statements = rows.map(({ statement }) => statement);
    expect(new Set(statements).size).toBe(statements.length);
    for (const [, field] of fields) expect(statements).toContain(field);
  });

  it('says of each what we do, and names tests that are there', () => {
    for (const { statement, treatment, proofs } of rows) {
      expect(treatment, statement).not.toBe('');
      expect(proofs, statement).not.toEqual([]);
    }
    const missing = rows.flatMap(({ proofs }) => proofs).filter((proof) => !isThere(proof));
    expect(missing).toEqual([]);
  });
});
