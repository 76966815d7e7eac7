import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { HOOK_TYPES } from '../../service/world/hook-types.ts';
import { startBench } from './caller.ts';
import type { Description } from './described.ts';
import { documentedFields, type Place } from './documented-fields.ts';
import { SPEC_TABLES } from './spec-tables.ts';

/** Where the specification is kept beside a checkout; most have none. */
const FOLDER = process.env.SPEC_FOLDER ?? join(import.meta.dirname, '../../../../shared/spec');

const SERVERS = '/projects/{project}/servers';
const RUNS = '/projects/{project}/test_access';
const INTEGRATIONS = '/projects/{project}/integrations';

/** By section, where the description shows its fields. */
const PLACES: ReadonlyArray<[section: string, ...Place]> = [
  ['2.1', 'POST /api/v1/signup', 'body', ''],
  ['2.2', 'POST /api/v1/signup', '201', ''],
  ['2.3', 'GET /profile', '200', ''],
  ['2.4', 'POST /beta/enrollments', '200', ''],
  ...[
    ['GET', SERVERS, '200', '[]'] as const,
    ['POST', SERVERS, '200', ''] as const,
    ['POST', SERVERS, '201', ''] as const,
    ['GET', `${SERVERS}/{server}`, '200', ''] as const,
  ].flatMap(([method, path, status, way]): [string, ...Place][] => [
    ['2.5', `${method} ${path}`, status, way],
    ['2.5 static_hosting', `${method} ${path}`, status, `${way}.static_hosting`],
    ['2.5 managed_vps', `${method} ${path}`, status, `${way}.managed_vps`],
  ]),
  ['2.6', 'GET /hosted_resources', '200', '[]'],
  ['2.6', 'GET /hosted_resources/{identifier}', '200', ''],
  ['2.7 region', 'GET /managed_hosting/regions', '200', 'regions.[]'],
  ['2.7 size', 'GET /managed_hosting/sizes', '200', 'sizes.[]'],
  ['2.8', `POST ${RUNS}`, '200', ''],
  ['2.8', `POST ${RUNS}`, '201', ''],
  ['2.8', `POST ${SERVERS}/{server}/test_access`, '200', ''],
  ['2.8', `POST ${SERVERS}/{server}/test_access`, '201', ''],
  ['2.8', `GET ${RUNS}/{identifier}`, '200', ''],
  ['2.9', 'GET /projects/{project}/build_configurations/{identifier}', '200', ''],
  ['2.9 server', 'GET /projects/{project}/build_configurations/{identifier}', '200', 'servers.[]'],
  ['2.10', `POST ${INTEGRATIONS}`, '200', '0'],
  ['2.10', `POST ${INTEGRATIONS}`, '201', '0'],
  ['2.10', `PATCH ${INTEGRATIONS}/{identifier}`, '200', '0'],
  ['2.11', 'GET /activity', '200', '0.[]'],
  ['2.11', 'GET /activity', '200', '1.events.[]'],
  ['2.12', 'GET /activity', '200', '1.stats'],
  ['2.13', 'GET /account/invoices', '200', '[]'],
  ['4.2', 'POST /beta/enrollments', 'body', ''],
  ['4.8 create', `POST ${INTEGRATIONS}`, 'body', 'integration'],
  ['4.8 update', `PATCH ${INTEGRATIONS}/{identifier}`, 'body', 'integration'],
  ['4.9', 'GET /activity', 'query', ''],
  ...['400', '401', '403', '404', '429', '500', '503'].map((status): [string, ...Place] => [
    '7.1',
    'GET /profile',
    status,
    '',
  ]),
];

/** Operations whose answers the specification does not show, or shows without a table. */
const WITHOUT_TABLE = [
  'GET /projects 200',
  'POST /hosted_resources/{identifier}/sync 200',
  'GET /projects/{project}/deployments 200',
  'GET /projects/{project}/deployments/{identifier} 200',
  'GET /projects/{project}/deployments/{identifier}/steps/{step}/logs 200',
  'GET /projects/{project}/undeployed_changes 200',
  'GET /account/invoices/{number}.pdf 200',
  'GET /.well-known/oauth-authorization-server 200',
  'GET /oauth/authorize 200',
  'POST /oauth/token 200',
];

/** What we describe beyond a section's table, or otherwise than it, and why that may be. */
const OURS: Record<string, Record<string, string>> = {
  // A machine that is not ready yet has none; the table knows no null.
  '2.6': { ip_address: 'string?' },
  // Spec 4.6: absent while it runs, and for one server.
  '2.8': { results: 'object~', 'results.repository': 'object~' },
  // Errors may lack any of them.
  '7.1': { error_code: 'string~', hint: 'string~', status: 'string~', error: 'string~' },
};

/** Full server records are not shown: beside the three common fields anything may be there. */
const OPEN = new Set(['2.5']);

let document: Description['document'];
let documented: string[];
beforeAll(async () => {
  const bench = await startBench();
  ({ document, documented } = bench.description);
});

/** The specification's fields as the description should have them: no matter how identifiers look, or objects are named. */
function expectedFields(section: string): Record<string, string> {
  const table = Object.entries(SPEC_TABLES[section] ?? {});
  const own = table.map(([name, type]) => [name, type.replace('uuid-like string', 'string')]);
  return { ...Object.fromEntries(own), ...OURS[section] };
}

function isNamed(section: string, field: string): boolean {
  const names = Object.keys(expectedFields(section));
  const isParent = names.some((name) => name.startsWith(`${field}.`)) && !names.includes(field);
  const isOfOtherTable = Object.keys(SPEC_TABLES).some(
    (key) => key === `${section} ${field.split('.')[0]?.replace(/s$/, '')}`,
  );
  return !(isParent || (isOfOtherTable && field.includes('.')));
}

describe('every field of the specification, and no other, is described', () => {
  test.each(PLACES)('%s at %s %s %s', (section, ...place) => {
    const fields = documentedFields(document, place);
    const expected = expectedFields(section);
    const shown = Object.entries(fields).filter(([name]) => isNamed(section, name));
    const closed = OPEN.has(section) ? shown.filter(([name]) => name in expected) : shown;
    expect(Object.fromEntries(closed)).toEqual(expected);
  });

  test('for every operation that answers with a record', () => {
    const held = new Set(PLACES.map(([, operation, where]) => `${operation} ${where}`));
    const answers = documented.filter((key) => /20[01]$/.test(key));
    expect(answers.filter((key) => !held.has(key)).toSorted()).toEqual(WITHOUT_TABLE.toSorted());
    for (const section of Object.keys(SPEC_TABLES)) {
      const sections = [...PLACES.map(([name]) => name), '4.8 types'];
      expect(sections).toContain(section);
    }
  });

  test('and for every type of integration its properties', () => {
    const known = Object.entries(HOOK_TYPES).map(([name, { required, optional, oauth }]) => [
      name,
      // A channel is named for updates only, as an example.
      oauth ? [] : [...required, ...optional].toSorted(),
    ]);
    const table = Object.entries(SPEC_TABLES['4.8 types'] ?? {}).map(([name, properties]) => [
      name,
      properties
        .split(/!? |!$/)
        .filter((word) => word !== '')
        .toSorted(),
    ]);
    expect(Object.fromEntries(known)).toEqual(Object.fromEntries(table));
  });
});

const TYPES = 'uuid-like string|string|integer|number|boolean|object|array|timestamp';
const ROW = new RegExp(`^\\| ([\\w.]+) \\| (${TYPES})( or null)?[^|]*\\|( yes \\|)?`, 'gm');

test('every row of the specification’s tables is written down with its type, if it is at hand', () => {
  const files = existsSync(FOLDER) ? globSync('*.md', { cwd: FOLDER }) : [];
  const text = files.map((file) => readFileSync(join(FOLDER, file), 'utf8')).join('\n');
  for (const part of text.split(/^#+ (?=\d)/m)) {
    const section = /^[\d.]*\d/.exec(part)?.[0];
    const tables = Object.entries(SPEC_TABLES).filter(([key]) => key.split(' ')[0] === section);
    for (const [row, name = '', type, isNull, isRequired] of part.matchAll(ROW)) {
      const expected = `${type}${isNull ? '?' : ''}${isRequired ? '!' : ''}`;
      expect(
        tables.map(([, fields]) => fields[name]),
        `${section}: ${row}`,
      ).toContain(expected);
    }
  }
});
