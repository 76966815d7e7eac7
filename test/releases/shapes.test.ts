import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { computeVersion, type Shape } from '../../src/store/store.ts';

const root = join(import.meta.dirname, '..', '..');
const SNAPSHOT = join(import.meta.dirname, 'shapes.txt');
const ADVICE = `The shape of something stored changed.
- Releases must read what earlier ones wrote. A renamed, removed or narrower field of a document needs a function in the
  collection's \`upgrades\` (src/store/store.ts). Data of a job gets new optional fields only.
- If an older release cannot read what this one writes, raise STORE_FORMAT (src/store/open-store.ts), once a release.
- Then run \`npx vitest run test/releases/shapes.test.ts -u\`, and read the difference in shapes.txt.`;

/** A collection or queue, with the file that opens it and the name of its schema there. */
interface Stored {
  name: string;
  path: string;
  schema: string;
}

function findStored(pattern: RegExp): Stored[] {
  return globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(pattern)].map(({ groups = {} }) => {
      const { name = '', schema = '' } = groups;
      // A queue that is named at run time goes by its schema.
      return { name: name === '' ? schema : name, path, schema };
    }),
  );
}

/** @throws Error if the schema is not exported, because then nothing can hold it */
async function importSchema({ path, schema }: Stored): Promise<Shape<unknown>> {
  const text = readFileSync(join(root, path), 'utf8');
  const [, from] = new RegExp(`import \\{[^}]*\\b${schema}\\b[^}]*\\} from '([^']+)'`).exec(text) ?? [];
  const file = from === undefined ? path : join(dirname(path), from);
  const shape = (await import(join(root, file)))[schema];
  if (shape === undefined) throw new Error(`Export ${schema} in ${file}, so that its shape can be compared.`);
  return shape;
}

async function describeShapes(kind: string, stored: readonly Stored[]): Promise<string> {
  const byName = stored.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const shapes = byName.map(async (one) => describeShape(`${kind} ${one.name}`, await importSchema(one)));
  // A collection that several files open is described once.
  return [...new Set(await Promise.all(shapes))].join('\n');
}

/** A line for each field, because the differences are read. */
function describeShape(title: string, shape: Shape<unknown>): string {
  const schema = 'upgrades' in shape ? shape.schema : shape;
  const { anyOf, oneOf, ...alone } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const variants = (anyOf ?? oneOf ?? [alone]).map((variant) => describeFields(variant).join('\n'));
  return `${title}, version ${computeVersion(shape)}\n${variants.join('\n  or\n')}\n`;
}

function describeFields(schema: z.core.JSONSchema.BaseSchema): string[] {
  const { $schema: _, type, properties = {}, required = [], ...rest } = schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    return `  ${name}${required.includes(name) ? '' : '?'}: ${JSON.stringify(field)}`;
  });
  return [...fields, ...(Object.keys(rest).length === 0 ? [] : [`  ${JSON.stringify(rest)}`])];
}

it('stored shapes are those that releases know', async () => {
  const collections = findStored(/\bcollection\(\s*'(?<name>[\w-]+)',\s*(?<schema>[A-Z]\w*)/g);
  const queues = findStored(/\bqueue(?:: (?:'(?<name>[\w-]+)'|[\w.]+))?,\s*schema: (?<schema>[A-Z]\w*)/g);
  expect(collections.length).toBeGreaterThan(30);
  expect(queues.length).toBeGreaterThan(15);
  const shapes = [await describeShapes('collection', collections), await describeShapes('queue', queues)];
  await expect(shapes.join('\n'), ADVICE).toMatchFileSnapshot(SNAPSHOT);
});
