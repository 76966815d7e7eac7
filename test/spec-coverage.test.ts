import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mentionOf } from './support/spec-mentions.ts';
import { SPEC_STATEMENTS } from './support/spec-statements.ts';
import { proofOf } from './support/test-source.ts';

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
  });

const sources = new Map<string, string>();
function sourceOf(name: string): string {
  const folder = name.startsWith('sandbox/') ? name.replace('sandbox/', 'sandbox/test/') : `test/${name}`;
  const path = join(import.meta.dirname, '..', `${folder}.test.ts`);
  const known = sources.get(path) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
  sources.set(path, known);
  return known;
}

describe('the page of what proves the specification', () => {
  it('has every numbered statement, field and error once, and no other', () => {
    const wanted = SPEC_STATEMENTS.flatMap(([section, names]) =>
      names.map((name) => `${section} ${name}`.trim()),
    );
    expect(rows.map(({ statement }) => statement)).toEqual(wanted);
    expect(new Set(wanted).size).toBe(wanted.length);
  });

  it('has all sections of the specification, and every field that it answers', () => {
    const sections = new Set(rows.map(({ statement }) => statement.slice(0, 1)));
    for (const section of '123456789') expect(sections).toContain(section);
    const fields = sourceOf('spec-fields').matchAll(/\['(2\.\d+ [\w.]+)'/g);
    const statements = rows.map(({ statement }) => statement);
    for (const [, field] of fields) expect(statements).toContain(field);
  });

  it.each(rows)('§ $statement says what we do and names tests that are there', ({ treatment, proofs }) => {
    expect(treatment).not.toBe('');
    expect(proofs).not.toEqual([]);
    for (const proof of proofs) {
      const [, file = '', title = ''] = /^([\w/.-]+): (.{4,})$/.exec(proof) ?? [];
      expect(sourceOf(file), `${proof}: no such file`).not.toBe('');
      expect(sourceOf(file).includes(title), `${proof}: no such title`).toBe(true);
    }
  });

  it.each(rows)('§ $statement is mentioned by each test that is to prove it', ({ statement, proofs }) => {
    const mention = mentionOf(statement);
    expect(mention, 'say in spec-mentions.ts what a proof cannot do without').toBeDefined();
    for (const proof of proofs) {
      const [, file = '', title = ''] = /^([\w/.-]+): (.{4,})$/.exec(proof) ?? [];
      expect(proofOf(sourceOf(file), title), proof).toMatch(mention ?? '');
    }
  });
});
