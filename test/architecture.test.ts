import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Files by path from the root, with their text. */
function filesOf(...patterns: string[]): Map<string, string> {
  const paths = globSync(patterns, { cwd: root }).filter((path) => !path.includes('node_modules'));
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

interface Edge {
  from: string;
  to: string;
}

/** Every import of our own files. */
function ownImports(files: ReadonlyMap<string, string>): Edge[] {
  return [...files].flatMap(([from, text]) => {
    const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
    return targets.map(([, target = '']) => ({
      from,
      to: relative(root, join(root, dirname(from), target)),
    }));
  });
}

function packagesOf(files: ReadonlyMap<string, string>): Array<{ from: string; name: string }> {
  return [...files].flatMap(([from, text]) =>
    [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, name = '']) => ({ from, name })),
  );
}

/** The files whose text matches. */
function matching(files: ReadonlyMap<string, string>, pattern: RegExp): string[] {
  return [...files].filter(([, text]) => pattern.test(text)).map(([path]) => path);
}

/** Without comments and strings, where words are English. */
function codeOf(files: ReadonlyMap<string, string>): Map<string, string> {
  const prose =
    /\/\*[\s\S]*?\*\/|(?<=^|[\s;,(){}])\/\/.*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g;
  return new Map([...files].map(([path, text]) => [path, text.replace(prose, '')]));
}

const product = filesOf('src/**/*.ts');
const sandbox = filesOf('sandbox/{demo,service,slack}/**/*.{ts,tsx}');
const imports = ownImports(product);

/** From the top: a room imports only itself and the rooms below it. */
const ROOMS = [
  'main.ts',
  'cli',
  'open.ts',
  'app.ts',
  'installing',
  'linking',
  'listeners',
  'commands',
  'scheduler',
  'workspace',
  'config.ts',
  'views',
  'records',
  'service',
  'slack',
  'jobs',
  'store',
  'observability',
  'core',
];

/** Rooms that do not know each other; views may import the service's records. */
const SIBLINGS = new Set(['views', 'service', 'slack', 'jobs', 'store']);

function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** What a feature may import of the features beside it, by room. */
const NEIGHBOURS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  commands: {
    digests: ['activity', 'schedules'],
    guards: ['schedules'],
    help: ['admin', 'episodes'],
    home: ['episodes'],
    invoices: ['schedules'],
    mcp: ['activity', 'episodes'],
    watches: ['schedules'],
    workflows: ['activity'],
  },
  scheduler: {
    digests: ['schedules'],
    // A failed deployment has its project tested.
    episodes: ['test-access'],
    guards: ['episodes', 'schedules', 'test-access'],
    invoices: ['schedules'],
    // The table of kinds.
    schedules: ['episodes', 'guards', 'invoices', 'watches'],
    // A workflow's step ends with the run that it started.
    'test-access': ['workflows'],
    watches: ['episodes', 'schedules'],
  },
  // `blocks` is for all of them, as `targets` is for commands.
  views: {
    digests: ['activity', 'schedules'],
    episodes: ['schedules', 'test-access'],
    help: ['episodes'],
    home: ['accounts', 'activity', 'episodes', 'schedules', 'test-access'],
    integrations: ['projects'],
    invoices: ['schedules'],
    schedules: ['activity'],
    servers: ['projects'],
    unfurls: ['activity', 'projects', 'servers', 'test-access'],
    watches: ['activity', 'episodes', 'schedules'],
  },
};

/** The feature's folder, in the rooms that have a folder for each. */
function featureOf(path: string): string | undefined {
  const [, room = '', feature, file] = path.split('/');
  return ['commands', 'scheduler', 'views'].includes(room) && file !== undefined ? feature : undefined;
}

describe('the rooms of src/', () => {
  it('are all in the list', () => {
    const rooms = new Set([...product.keys()].map(roomOf));
    expect([...rooms].filter((room) => !ROOMS.includes(room) && room !== 'README.md')).toEqual([]);
  });

  it.each(ROOMS)('%s imports only what is below it', (room) => {
    const above = ROOMS.slice(0, ROOMS.indexOf(room));
    const upward = imports.filter(({ from, to }) => roomOf(from) === room && above.includes(roomOf(to)));
    expect(upward).toEqual([]);
  });

  it('views, service, slack, jobs and store do not import each other, except views the service’s records', () => {
    const crossing = imports.filter(({ from, to }) => {
      const [one, other] = [roomOf(from), roomOf(to)];
      return one !== other && SIBLINGS.has(one) && SIBLINGS.has(other);
    });
    expect(crossing.filter(({ from, to }) => roomOf(from) !== 'views' || roomOf(to) !== 'service')).toEqual(
      [],
    );
  });

  it('views import of the workspace’s records their types alone', () => {
    const views = filesOf('src/views/**/*.ts');
    expect(matching(views, /^import (?!type )[^;]*\/records\//m)).toEqual([]);
  });

  it('a feature imports of the features beside it those in the table alone', () => {
    const crossing = imports.flatMap(({ from, to }) => {
      const [room, feature, other] = [roomOf(from), featureOf(from), featureOf(to)];
      if (feature === undefined || other === undefined || room !== roomOf(to)) return [];
      const allowed = ['blocks', 'targets', feature, ...(NEIGHBOURS[room]?.[feature] ?? [])];
      return allowed.includes(other) ? [] : [`${room}: ${feature} → ${other}`];
    });
    expect(crossing).toEqual([]);
  });

  it('what a view parses is a form’s or button’s own, never a job’s data or a document', () => {
    const schemas = [...filesOf('src/views/**/*.ts').values()].flatMap((text) =>
      [...text.matchAll(/^export const (\w+) = z$|^export const (\w+) = z\./gm)].map(
        ([, one, other]) => one ?? other,
      ),
    );
    const later = filesOf('src/{scheduler,workspace}/**/*.ts');
    const pattern = new RegExp(
      `^import \\{[^}]*(?<!type )\\b(?:${schemas.join('|')})\\b[^}]*\\} from '.*/views/`,
      'm',
    );
    expect(matching(later, pattern)).toEqual([]);
  });

  it('a feature has the context of its own workspace, and no way to another', () => {
    const features = filesOf('src/{commands,scheduler,views,records}/**/*.ts');
    const openers = /\bworkspaces\.(?:open|admit|enter\w*)\(|\b(?:store|sealer|slack)\.of\(/;
    // A start starts the schedules of all workspaces, each in its own context.
    expect(matching(features, openers)).toEqual(['src/scheduler/schedules/reconcile-schedules.ts']);
  });
});

/** Words that had to be explained to everybody new. */
const PRIVATE_WORDS = `
  asker caller connectedBy requester setUpBy Asked asking during inert lane Live keeper markup
  quarantine scene Shown slot slotAt telling unanswered withheld maybeTwice Tenancy createTurns
  FairGate whenFree untilEnded unlessSlackFails byQuarter numbersIn outlastOutage SOMEONE_WAITS
`;

describe('the code', () => {
  it('keeps product and sandbox apart', () => {
    expect(imports.filter(({ to }) => to.startsWith('sandbox/'))).toEqual([]);
    expect(ownImports(sandbox).filter(({ to }) => to.startsWith('src/'))).toEqual([]);
  });

  it('lets the views know neither Bolt nor a client', () => {
    const foreign = packagesOf(filesOf('src/views/**/*.ts'));
    expect(foreign.filter(({ name }) => !['@slack/types', 'zod'].includes(name))).toEqual([]);
  });

  it('is put together in one place, for the process, the tests and the benchmarks', () => {
    const all = filesOf('{src,test,bench}/**/*.ts');
    const callers = matching(all, /(?<!function )\b(?:createApp|createWorkspaces)\(/);
    expect(callers.filter((file) => file !== 'test/architecture.test.ts')).toEqual([
      'src/app.ts',
      'src/open.ts',
    ]);
  });

  it('makes text with markup in one place, where it is verbatim', () => {
    expect(matching(product, /'mrkdwn'[,;\s}]/)).toEqual(['src/core/mrkdwn.ts']);
  });

  it('never overrules the type checker with two assertions, outside tests', () => {
    expect(
      matching(
        filesOf('{src,sandbox/{demo,service,slack},bench,scripts}/**/*.{ts,tsx}'),
        /\bas unknown as\b/,
      ),
    ).toEqual([]);
  });

  it('calls nothing by a private word', () => {
    const words = PRIVATE_WORDS.trim().split(/\s+/).join('|');
    const pattern = new RegExp(`(?<![\\w'’-])(?:${words}|(?:MOST|LONGEST|LEAST)_[A-Z_]+)(?![\\w'’-])`);
    expect(matching(codeOf(product), pattern)).toEqual([]);
  });

  it('has no file over 400 lines', () => {
    const long = [...product].filter(([, text]) => text.split('\n').length > 401).map(([path]) => path);
    expect(long).toEqual([]);
  });

  it('changes the shared test of test/support/fixtures.ts for no other file of its worker', () => {
    expect(matching(filesOf('test/**/*.test.ts'), /^test\.override\(/m)).toEqual([]);
  });
});
