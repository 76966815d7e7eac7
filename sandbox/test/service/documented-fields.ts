import type { Description } from './described.ts';

type Schema = Record<string, unknown>;
type Document = Description['document'];

/** A part of the description: an operation, then `body`, `query` or a status, then the way into its schema. */
export type Place = readonly [operation: string, where: string, way: string];

/** Fields of a schema in the same form as the specification's tables, those of objects inside it behind a dot. */
export function documentedFields(document: Document, [operation, where, way]: Place): Record<string, string> {
  const [method = '', path = ''] = operation.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()] as Schema | undefined;
  if (found === undefined) throw new Error(`${operation} is not described`);
  if (where === 'query') return queryFields(found);
  const holder = where === 'body' ? found.requestBody : at(found, 'responses', where);
  const content = Object.values(at(holder, 'content') as Record<string, Schema>)[0];
  const schema = way
    .split('.')
    .filter((step) => step !== '')
    .reduce((inner, step) => stepInto(document, inner, step), resolve(document, content?.schema));
  return fieldsOf(document, schema, where === 'body');
}

function at(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (inner as Schema | undefined)?.[key], value);
}

function resolve(document: Document, schema: unknown): Schema {
  const reference = at(schema, '$ref');
  if (typeof reference !== 'string') return schema as Schema;
  return resolve(document, at(document, ...reference.slice(2).split('/')));
}

/** `[]` is a list's row, a number a choice, anything else a field. */
function stepInto(document: Document, schema: Schema, step: string): Schema {
  if (step === '[]') return resolve(document, schema.items);
  if (/^\d$/.test(step)) return resolve(document, at(schema, 'anyOf', step));
  return resolve(document, at(schema, 'properties', step));
}

function queryFields(operation: Schema): Record<string, string> {
  const parameters = (operation.parameters ?? []) as { name: string; in: string; required?: boolean }[];
  return Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required }) => [name, required ? 'string!' : 'string']),
  );
}

function fieldsOf(document: Document, schema: Schema, isRequest: boolean): Record<string, string> {
  const required = (schema.required ?? []) as string[];
  const entries = Object.entries((schema.properties ?? {}) as Schema).flatMap(([name, raw]) => {
    const inner = resolve(document, raw);
    const isNeeded = required.includes(name);
    // A request's field is marked where it is needed, an answer's where it may be left out.
    const mark = isRequest ? (isNeeded ? '!' : '') : isNeeded ? '' : '~';
    const below = inner.type === 'array' ? resolve(document, inner.items) : inner;
    const nested = Object.entries(fieldsOf(document, below, isRequest));
    return [[name, typeOf(inner) + mark], ...nested.map(([key, type]) => [`${name}.${key}`, type])];
  });
  return Object.fromEntries(entries);
}

function typeOf(schema: Schema): string {
  const types = [schema.type ?? typesOfChoices(schema)].flat().map(String);
  const [type = 'string'] = types.filter((one) => one !== 'null');
  const named = schema.format === 'date-time' ? 'timestamp' : type;
  return types.includes('null') ? `${named}?` : named;
}

function typesOfChoices({ anyOf, const: only, enum: values }: Schema): unknown[] {
  if (Array.isArray(anyOf)) return anyOf.map((choice: Schema) => choice.type);
  return [typeof (only ?? at(values, '0'))];
}
