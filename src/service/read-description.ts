import { isObject } from '../core/json.ts';
import { type Described, EXTRA_FIELDS, listWrappers, OPERATIONS } from './operations.ts';

type Part = Readonly<Record<string, unknown>>;

/** Bounds for foreign input. A real description is far below them. */
const MAX_PATHS = 10_000;
const MAX_PATH_LENGTH = 200;
const MAX_BASES = 10;
const MAX_PARTS = 10_000;
const MAX_ENTRIES = 200;
const MAX_FIELDS = 20;
const MAX_FIELD_LENGTH = 100;
const MAX_DEPTH = 100;

/**
 * Looks up the operations of `OPERATIONS` in an OpenAPI document, version 2 or 3. Names of parameters, `.json`, a slash at the
 * end and base paths of servers do not matter. A part of another shape counts as absent.
 * @returns undefined if the value describes no paths
 */
export function readOperations(document: unknown): Described | undefined {
  if (!isObject(document) || !isObject(document.paths)) return undefined;
  const schemas = new Schemas(document);
  const described: Record<string, string[]> = {};
  const basePath = typeof document.basePath === 'string' ? [normalizePath(document.basePath)] : [];
  const bases = ['', ...basePath, ...listBases(document)];
  for (const path of Object.keys(document.paths).slice(0, MAX_PATHS)) {
    if (path.length > MAX_PATH_LENGTH) continue;
    const item = schemas.resolve(document.paths[path]);
    const paths = [...bases, ...listBases(item)].map((base) => base + normalizePath(path));
    for (const [operation, part] of findOperations(item, paths)) {
      if (Object.hasOwn(described, operation)) continue;
      described[operation] = listRequired(schemas, item, part, listWrappers(operation));
      for (const key of listExtraFields(schemas, item, part, operation)) described[key] = [];
    }
  }
  return described;
}

const METHODS = ['get', 'post', 'patch', 'delete'];

/** The operations of a path that `OPERATIONS` has. */
function findOperations(item: Part, paths: readonly string[]): Array<[operation: string, part: Part]> {
  return METHODS.flatMap((method) => {
    const part = item[method];
    if (!isObject(part)) return [];
    const operations = paths.map((path) => `${method.toUpperCase()} ${path}`);
    return operations.filter((one) => OPERATIONS.has(one)).map((one): [string, Part] => [one, part]);
  });
}

/** The paths in the addresses of a document's or path's servers. */
function listBases({ servers }: Part): string[] {
  const urls = listAt(servers).slice(0, MAX_BASES);
  return urls.flatMap((server) => {
    if (!isObject(server) || typeof server.url !== 'string' || server.url.length > MAX_PATH_LENGTH) return [];
    const [, path = ''] = /^(?:[^/]*\/\/[^/]*)?(.*)$/s.exec(server.url) ?? [];
    return [normalizePath(path)];
  });
}

function normalizePath(path: string): string {
  const plain = path.replace(/\{[^{}]*\}/g, '{}').replace(/(?<=\/):\w+/g, '{}');
  return plain.replace(/\/+/g, '/').replace(/(?:\.json|\.\{\}|\(\.\{\}\))?\/?$/, '');
}

/** Required fields of the query and the body. A field in a wrapper is named as `wrapper.field`. */
function listRequired(schemas: Schemas, item: Part, operation: Part, wrappers: readonly string[]): string[] {
  const fields = [
    ...listParameters(schemas, item, operation)
      .filter(isRequiredField)
      .map(({ name }) => String(name)),
    ...listBodies(schemas, item, operation).flatMap((body) => listBodyFields(schemas, body, wrappers)),
  ];
  return [...new Set(fields)].slice(0, MAX_FIELDS).map((field) => field.slice(0, MAX_FIELD_LENGTH));
}

function listParameters(schemas: Schemas, item: Part, operation: Part): Part[] {
  const all = [...listAt(operation.parameters), ...listAt(item.parameters)];
  return all.slice(0, MAX_ENTRIES).map((one) => schemas.resolve(one));
}

/** Schemas of the body. OpenAPI 2 has it among the parameters. */
function listBodies(schemas: Schemas, item: Part, operation: Part): unknown[] {
  const inBody = listParameters(schemas, item, operation).filter((one) => one.in === 'body');
  return [readContent(schemas.resolve(operation.requestBody).content), ...inBody.map(({ schema }) => schema)];
}

/** Keys of the extra fields in a body, beside its other fields or in the object around them. */
function listExtraFields(schemas: Schemas, item: Part, part: Part, operation: string): string[] {
  const extra = EXTRA_FIELDS.filter((field) => field.operation === operation);
  if (extra.length === 0) return [];
  const { extras, wrapped } = merge(listBodies(schemas, item, part).map((body) => schemas.read(body)));
  const listed = extra.filter(({ name, wrapper }) => {
    const inner = [...(wrapped.get(wrapper) ?? [])].map((one) => schemas.read(one));
    return extras.has(name) || inner.some((schema) => schema.extras.has(name));
  });
  return listed.map(({ key }) => key);
}

function isRequiredField(parameter: Part): boolean {
  return parameter.required === true && (parameter.in === 'query' || parameter.in === 'formData');
}

function listBodyFields(schemas: Schemas, body: unknown, wrappers: readonly string[]): string[] {
  const { required, wrapped } = schemas.read(body);
  const inner = wrappers.flatMap((wrapper) => {
    const contents = [...(wrapped.get(wrapper) ?? [])].map((one) => schemas.read(one));
    return [...merge(contents).required].map((name) => `${wrapper}.${name}`);
  });
  return [...required, ...inner];
}

/** The schema of a JSON body, or else of the first. */
function readContent(content: unknown): unknown {
  if (!isObject(content)) return undefined;
  const body = content['application/json'] ?? Object.values(content)[0];
  return isObject(body) ? body.schema : undefined;
}

/**
 * The required fields of a schema, the names of extra fields, and the schemas of properties that may be wrappers, with those of its parts.
 */
interface Schema {
  required: ReadonlySet<string>;
  extras: ReadonlySet<string>;
  wrapped: ReadonlyMap<string, ReadonlySet<unknown>>;
}

const NOTHING: Schema = { required: new Set(), extras: new Set(), wrapped: new Map() };
/** Names of properties that may be wrappers. */
const WRAPPERS = [...new Set([...OPERATIONS].flatMap(listWrappers))];

const EXTRAS = EXTRA_FIELDS.map(({ name }) => name);

/** Without the parts of the schema. */
function readOwn({ required, properties }: Part): Schema {
  const names = listAt(required).slice(0, MAX_ENTRIES);
  const own = isObject(properties) ? properties : {};
  const listOwn = (all: readonly string[]) => all.filter((name) => Object.hasOwn(own, name));
  return {
    required: new Set(names.filter((name) => typeof name === 'string')),
    extras: new Set(listOwn(EXTRAS).filter((name) => isObject(own[name]))),
    wrapped: new Map(listOwn(WRAPPERS).map((name) => [name, new Set([own[name]])])),
  };
}

function merge(schemas: readonly Schema[]): Schema {
  const required = new Set<string>();
  const extras = new Set<string>();
  const wrapped = new Map<string, Set<unknown>>();
  for (const schema of schemas) {
    addAll(required, schema.required);
    addAll(extras, schema.extras);
    for (const [name, properties] of schema.wrapped) {
      const merged = wrapped.get(name) ?? new Set();
      addAll(merged, properties);
      wrapped.set(name, merged);
    }
  }
  return { required, extras, wrapped };
}

/** Combines choices: a field is required only if each of them requires it. */
function requiredByEach(choices: readonly Schema[]): Schema {
  const [first = NOTHING, ...others] = choices;
  const required = [...first.required].filter((name) => others.every((other) => other.required.has(name)));
  return { ...merge(choices), required: new Set(required) };
}

/** Reads schemas of a document. It follows each reference once, and reads a limited number of parts. */
class Schemas {
  readonly #document: Part;
  readonly #references = new Map<string, Schema>();
  #partsLeft = MAX_PARTS;

  constructor(document: Part) {
    this.#document = document;
  }

  /** Follows the reference of a part that is no schema. */
  resolve(part: unknown): Part {
    if (!isObject(part)) return {};
    const target = typeof part.$ref === 'string' ? this.#follow(part.$ref) : part;
    return isObject(target) ? target : {};
  }

  read(part: unknown, depth = 0): Schema {
    if (!isObject(part) || depth > MAX_DEPTH || this.#partsLeft <= 0) return NOTHING;
    this.#partsLeft -= 1;
    const readAll = (parts: unknown) =>
      listAt(parts)
        .slice(0, MAX_ENTRIES)
        .map((one) => this.read(one, depth + 1));
    const all = [readOwn(part), this.#readReference(part.$ref, depth), ...readAll(part.allOf)];
    return merge([...all, requiredByEach(readAll(part.oneOf)), requiredByEach(readAll(part.anyOf))]);
  }

  #readReference(reference: unknown, depth: number): Schema {
    if (typeof reference !== 'string') return NOTHING;
    const earlier = this.#references.get(reference);
    if (earlier !== undefined) return earlier;
    // A schema within itself adds nothing.
    this.#references.set(reference, NOTHING);
    const schema = this.read(this.#follow(reference), depth + 1);
    this.#references.set(reference, schema);
    return schema;
  }

  #follow(reference: string): unknown {
    if (reference.length > MAX_PATH_LENGTH || !reference.startsWith('#/')) return undefined;
    const steps = reference.slice(2).split('/').map(decodeStep);
    return steps.reduce<unknown>(
      (at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
      this.#document,
    );
  }
}

/** Reads a step of a JSON pointer. */
function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

function addAll<T>(values: Set<T>, more: Iterable<T>): void {
  for (const value of more) if (values.size < MAX_ENTRIES) values.add(value);
}

function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
