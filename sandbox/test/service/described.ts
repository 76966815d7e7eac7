import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { startSimulatedService } from '../../service/server.ts';

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

export type Description = Awaited<ReturnType<typeof readDescription>>;

let published: ReturnType<typeof readPublished> | undefined;

/** The published description, which answers are held against. It is read once for all services of a worker. */
export async function readDescription() {
  published ??= readPublished();
  const { document, documented, ajv, templates } = await published;
  const seen = new Set<string>();
  return {
    document,
    /** Every operation and status it documents, e.g. `GET /profile 200`. */
    documented,
    /** Those that answers were seen for. */
    seen,
    /** Fails when the answer is not as described. */
    check(wire: Wire): void {
      const plain = wire.path.replace(/\?.*$/, '').replace(/\.json$/, '');
      const template = templates.find(({ pattern }) => pattern.test(plain))?.template;
      if (template === undefined)
        return void expect(wire.body).toHaveProperty('error_code', 'invalid_api_method');
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

async function readPublished() {
  const service = await startSimulatedService();
  service.world.setDescription({ description: 'whole' });
  const document = (await (await fetch(`${service.origin}/docs.json`)).json()) as Described;
  await service.stop();
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
  ajv.addSchema(document, 'docs.json');
  // The most literal path first, as a router would choose.
  const templates = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((template) => ({ template, pattern: toPattern(template) }));
  return { document, documented: listDocumented(document), ajv, templates };
}

function expectValid(validate: ValidateFunction, { body }: Wire, key: string): void {
  if (validate(body)) return;
  expect.fail(`${key}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`);
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
