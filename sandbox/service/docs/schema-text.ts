/** The parts of JSON Schema that our own schemas come out as. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  additionalProperties?: boolean | JsonSchema;
}

export interface TypePart {
  text: string;
  /** Whether the text is the name of a record. */
  record: boolean;
}

export interface Field {
  name: string;
  schema: JsonSchema;
  required: boolean;
}

/** The fields of an object, those of objects inside it behind a dot. */
export function fieldsOf(schema: JsonSchema): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const field = { name, schema: inner, required: schema.required?.includes(name) ?? false };
    const nested = fieldsOf(inner).map((below) => ({ ...below, name: `${name}.${below.name}` }));
    return [field, ...nested];
  });
}

/** A type in words: `string or null`, `array of Project`. */
export function typeOf(schema: JsonSchema): TypePart[] {
  const record = schema.$ref?.split('/').at(-1);
  if (record !== undefined) return [{ text: record, record: true }];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return joined(choices.map(typeOf));
  if (schema.type === 'array') return [word('array of '), ...typeOf(schema.items ?? {})];
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values !== undefined) return [word(values.map((value) => JSON.stringify(value)).join(', '))];
  return [word([schema.type ?? 'anything'].flat().join(' or '))];
}

function word(text: string): TypePart {
  return { text, record: false };
}

function joined(types: TypePart[][]): TypePart[] {
  return types.flatMap((parts, index) => (index === 0 ? parts : [word(' or '), ...parts]));
}
