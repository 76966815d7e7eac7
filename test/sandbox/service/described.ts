import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

interface Described {
  paths: Record<
    string,
    Record<string, { responses?: Record<string, { content?: Record<string, unknown> }> }>
  >;
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
}

const FORMATS: Record<string, (text: string) => boolean> = {
  'date-time': (text) => !Number.isNaN(Date.parse(text)) && text.includes('T'),
  uri: (text) => URL.canParse(text),
  email: (text) => text.includes('@'),
  binary: () => true,
};

/** One answer as it came over the wire. */
interface Wire {
  method: string;
  /** Without the account. */
  path: string;
  status: number;
  contentType: string;
  body: unknown;
}

/** Holds answers against a published description. */
export interface Description {
  readonly document: Described;
  /** Every operation and status it documents, e.g. `GET /profile 200`. */
  readonly documented: string[];
  /** Those that answers were seen for. */
  readonly seen: Set<string>;
  /** Fails when the answer is not as described. */
  check(wire: Wire): void;
}

export async function readDescription(origin: string): Promise<Description> {
  const document = (await (await fetch(`${origin}/docs.json`)).json()) as Described;
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
  ajv.addSchema(document, 'docs.json');
  const seen = new Set<string>();
  return {
    document,
    documented: listDocumented(document),
    seen,
    check(wire) {
      const template = findTemplate(document, wire.path);
      if (template === undefined) return expect(wire.body).toHaveProperty('error_code', 'invalid_api_method');
      const key = `${wire.method} ${template} ${wire.status}`;
      const response = document.paths[template]?.[wire.method.toLowerCase()]?.responses?.[wire.status];
      expect(response, `${key} is not described`).toBeDefined();
      seen.add(key);
      const type = Object.keys(response?.content ?? {})[0];
      if (type === undefined) return;
      expect(wire.contentType, key).toContain(type);
      if (type === 'application/json') expectValid(compile(ajv, template, wire), wire, key);
    },
  };
}

function expectValid(validate: ValidateFunction, { body }: Wire, key: string): void {
  expect(validate(body), `${key}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`).toBe(true);
}

function compile(ajv: Ajv2020, template: string, { method, status }: Wire): ValidateFunction {
  const where = ['paths', template, method.toLowerCase(), 'responses', status, 'content'];
  const pointer = [...where, 'application/json', 'schema'].map(escapePart).join('/');
  const validate = ajv.getSchema(`docs.json#/${pointer}`);
  if (validate === undefined) throw new Error(`no schema at ${pointer}`);
  return validate;
}

function escapePart(part: string | number): string {
  return encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'));
}

function findTemplate({ paths }: Described, path: string): string | undefined {
  const plain = path.replace(/\?.*$/, '').replace(/\.json$/, '');
  const fits = Object.keys(paths).filter((template) => toPattern(template).test(plain));
  // The most literal one, as a router would choose.
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`);
}

function listDocumented({ paths }: Described): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    ['get', 'post', 'patch'].flatMap((method) =>
      Object.keys(item[method]?.responses ?? {}).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
}
