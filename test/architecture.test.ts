import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
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
  'cards',
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

/** The feature's folder, in the rooms that have a folder for each. */
function featureOf(path: string): string | undefined {
  const [, room = '', feature, file] = path.split('/');
  return ['commands', 'scheduler', 'views'].includes(room) && file !== undefined ? feature : undefined;
}

describe('the rooms of src/', () => {
  it('are all in the list', () => {
    const rooms = new Set([...product.keys()].map(roomOf));
    expect(
      [...rooms].filter((room) => !ROOMS.includes(room)),
      'A new room: put it into ROOMS above, over everything that it imports, and into the table of docs/architecture.md.',
    ).toEqual([]);
  });

  it.each(ROOMS)('%s imports only what is below it', (room) => {
    const above = ROOMS.slice(0, ROOMS.indexOf(room));
    const upward = imports.filter(({ from, to }) => roomOf(from) === room && above.includes(roomOf(to)));
    expect(upward, 'Move what is imported down, or pass it as a parameter from above.').toEqual([]);
  });

  it('views, service, slack, jobs and store do not import each other, except views the service’s records', () => {
    const crossing = imports.filter(({ from, to }) => {
      const [one, other] = [roomOf(from), roomOf(to)];
      return one !== other && SIBLINGS.has(one) && SIBLINGS.has(other);
    });
    expect(
      crossing.filter(({ from, to }) => roomOf(from) !== 'views' || roomOf(to) !== 'service'),
      'Let a room above call both, or move what they share to core.',
    ).toEqual([]);
  });

  it('records and workspace declare no queue, and records send no job', () => {
    const senders = imports.filter(({ from, to }) => roomOf(from) === 'records' && roomOf(to) === 'jobs');
    const declared = matching(filesOf('src/{records,workspace}/**/*.ts'), /\bqueue: '/);
    const advice =
      'Declare the queue where its job is handled. Return what changed, and let the caller send, or add to `FollowUps` of src/workspace/workspace.ts.';
    expect([...senders, ...declared], advice).toEqual([]);
    expect(matching(filesOf('src/records/**/*.ts'), /\bjobs\b|\.send\(/), advice).toEqual([]);
  });

  it('views import of the workspace’s records their types alone', () => {
    const views = filesOf('src/views/**/*.ts');
    expect(
      matching(views, /^import (?!type )[^;]*\/records\//m),
      'Write `import type`. If a view needs a rule of records, let its caller apply the rule and pass the result.',
    ).toEqual([]);
  });

  it('features of a room do not import each other in a circle', () => {
    const beside = new Map<string, Set<string>>();
    for (const { from, to } of imports) {
      const [one, other] = [featureOf(from), featureOf(to)];
      if (one === undefined || other === undefined || roomOf(from) !== roomOf(to) || one === other) continue;
      const [here, there] = [`${roomOf(from)}/${one}`, `${roomOf(to)}/${other}`];
      beside.set(here, (beside.get(here) ?? new Set()).add(there));
    }
    const reach = (from: string, seen = new Set<string>()): Set<string> => {
      for (const next of beside.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    };
    const circular = [...beside.keys()].filter((feature) => reach(feature).has(feature));
    expect(
      circular,
      'Each of these imports itself over others. Move what they share into the lower one, into a file of the room (as src/scheduler/schedule-types.ts), or into a room below.',
    ).toEqual([]);
  });

  it('no file of a feature has the name of another that is open beside it', () => {
    const files = [...product.keys()].filter((path) => !['service', 'cli'].includes(roomOf(path)));
    const twice = files.filter((path) =>
      files.some(
        (other) =>
          other !== path &&
          basename(other) === basename(path) &&
          (featureOf(path) === undefined ||
            featureOf(other) === undefined ||
            featureOf(path) === featureOf(other)),
      ),
    );
    expect(
      twice,
      'Name one of them after what it holds: a view `…-message`, later work by its verb.',
    ).toEqual([]);
  });

  it('what a view parses is a form’s or button’s own, never a job’s data or a document', () => {
    const schemas = [...filesOf('src/views/**/*.ts').values()].flatMap((text) =>
      [...text.matchAll(/^export const (\w+) = z$|^export const (\w+) = z\./gm)].map(
        ([, one, other]) => one ?? other,
      ),
    );
    const later = filesOf('src/{scheduler,cards,workspace}/**/*.ts');
    const pattern = new RegExp(
      `^import \\{[^}]*(?<!type )\\b(?:${schemas.join('|')})\\b[^}]*\\} from '.*/views/`,
      'm',
    );
    expect(matching(later, pattern), 'Move the schema beside the job or document that it describes.').toEqual(
      [],
    );
  });

  it('a feature has the context of its own workspace, and no way to another', () => {
    const features = filesOf('src/{commands,scheduler,cards,views,records}/**/*.ts');
    const openers = /\bworkspaces\.(?:open|admit|enter\w*)\(|\b(?:store|sealer|slack)\.of\(/;
    // A start starts the schedules of all workspaces, each in its own context.
    expect(matching(features, openers), 'Use the `workspace` that the handler or job was given.').toEqual([
      'src/scheduler/schedules/reconcile-schedules.ts',
    ]);
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
    const product = imports.filter(({ to }) => to.startsWith('sandbox/'));
    const fakes = ownImports(sandbox).filter(({ to }) => to.startsWith('src/'));
    expect([...product, ...fakes], 'The sandbox follows the service and Slack, not our code.').toEqual([]);
  });

  it('lets the views know neither Bolt nor a client', () => {
    const foreign = packagesOf(filesOf('src/views/**/*.ts'));
    expect(
      foreign.filter(({ name }) => !['@slack/types', 'zod'].includes(name)),
      'Let the caller use the package, and pass plain data to the view.',
    ).toEqual([]);
  });

  it('is put together in one place, for the process, the tests and the benchmarks', () => {
    const all = filesOf('{src,test,bench}/**/*.ts');
    const callers = matching(all, /(?<!function )\b(?:createApp|createWorkspaces)\(/);
    expect(
      callers.filter((file) => file !== 'test/architecture.test.ts'),
      'Call `openDeckhand` (src/open.ts), or `openTestWorld` in a test.',
    ).toEqual(['src/app.ts', 'src/open.ts']);
  });

  it('makes text with markup in one place, where it is verbatim', () => {
    expect(
      matching(product, /'mrkdwn'[,;\s}]/),
      'Make the text with `mrkdwnText` or a block of src/views/blocks/make-blocks.ts.',
    ).toEqual(['src/core/mrkdwn.ts']);
  });

  it('never overrules the type checker with two assertions, outside tests', () => {
    expect(
      matching(
        filesOf('{src,sandbox/{demo,service,slack},bench,scripts}/**/*.{ts,tsx}'),
        /\bas unknown as\b/,
      ),
      'Parse it with a zod schema, or give the function a type parameter.',
    ).toEqual([]);
  });

  it('calls nothing by a private word', () => {
    const words = PRIVATE_WORDS.trim().split(/\s+/).join('|');
    const pattern = new RegExp(`(?<![\\w'’-])(?:${words}|(?:MOST|LONGEST|LEAST)_[A-Z_]+)(?![\\w'’-])`);
    expect(
      matching(codeOf(product), pattern),
      'Rename it by the words of CONTRIBUTING.md; the private words are PRIVATE_WORDS above.',
    ).toEqual([]);
  });

  it('has no file over 400 lines', () => {
    const long = [...product].filter(([, text]) => text.split('\n').length > 401).map(([path]) => path);
    expect(long, 'Split it by subject: one subject a file.').toEqual([]);
  });

  it('changes the shared test of test/support/fixtures.ts for no other file of its worker', () => {
    expect(
      matching(filesOf('test/**/*.test.ts'), /^test\.override\(/m),
      'Move `test.override` into a `describe`.',
    ).toEqual([]);
  });
});
