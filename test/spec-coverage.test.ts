import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Row {
  statement: string;
  treatment: string;
  proofs: string[];
}

const page = readFileSync(join(import.meta.dirname, 'spec-coverage.md'), 'utf8');
const rows: Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:§|---)/.test(line))
  .flatMap((line) => {
    const [statement = '', treatment = '', proof = ''] = line.slice(2, -2).split(' | ');
    const proofs = [...proof.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    return eachField(statement).map((one) => ({ statement: one, treatment, proofs }));
  });

/** `2.3 first_name, last_name` is two. */
function eachField(statement: string): string[] {
  const [, section, fields = ''] = /^(2\.\d+) (.+)$/.exec(statement) ?? [];
  return section === undefined ? [statement] : fields.split(', ').map((field) => `${section} ${field}`);
}

/** @param name as the page names a test */
function pathOf(name: string): string {
  const folder = name.startsWith('sandbox/') ? name.replace('sandbox/', 'sandbox/test/') : `test/${name}`;
  return join(import.meta.dirname, '..', `${folder}.test.ts`);
}

describe('the page of what proves the specification', () => {
  it('has all sections of the specification, and every field that it answers', () => {
    const sections = new Set(rows.map(({ statement }) => statement.slice(0, 1)));
    for (const section of '123456789') expect(sections).toContain(section);
    const fields = readFileSync(pathOf('spec-fields'), 'utf8').matchAll(/'(2\.\d+ [\w.]+)',/g);
    const statements = rows.map(({ statement }) => statement);
    expect(new Set(statements).size).toBe(statements.length);
    for (const [, field] of fields) expect(statements).toContain(field);
  });

  it('says of each what we do, and names tests that are there', () => {
    for (const { statement, treatment, proofs } of rows) {
      expect(treatment, statement).not.toBe('');
      expect(proofs, statement).not.toEqual([]);
    }
    const missing = rows.flatMap(({ proofs }) => proofs).filter((proof) => !existsSync(pathOf(proof)));
    expect(missing).toEqual([]);
  });
});
