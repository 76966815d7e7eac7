import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Install, install } from './support/installs.ts';
import { mega, printTable } from './support/tables.ts';

const root = join(import.meta.dirname, '..');
const Packed = z.tuple([z.looseObject({ filename: z.string() })]);
const Package = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  overrides: z.record(z.string(), z.string()),
});

/** What each dependency of ours is for, and whether the design names it; a new one has to say. */
const WHY: Readonly<Record<string, { named: boolean; why: string }>> = {
  '@expo-google-fonts/atkinson-hyperlegible': { named: true, why: 'the font in pictures' },
  '@keyv/postgres': { named: true, why: 'documents in Postgres' },
  '@keyv/sqlite': { named: true, why: 'documents in SQLite' },
  '@modelcontextprotocol/sdk': { named: false, why: 'tools for Slack’s assistant' },
  '@opentelemetry/api': { named: false, why: 'traces' },
  '@opentelemetry/core': { named: false, why: 'traces' },
  '@opentelemetry/resources': { named: false, why: 'traces' },
  '@opentelemetry/sdk-node': { named: false, why: 'traces' },
  '@resvg/resvg-js': { named: true, why: 'pictures' },
  '@slack/bolt': { named: true, why: 'Slack' },
  '@slack/types': { named: true, why: 'Slack' },
  '@slack/web-api': { named: true, why: 'Slack' },
  'fastest-levenshtein': { named: false, why: 'the nearest command' },
  keyv: { named: true, why: 'documents' },
  'node-cron': { named: true, why: 'schedules' },
  'openid-client': { named: true, why: 'linking people to the service' },
  pg: { named: false, why: 'Postgres, which two of the named bring anyway' },
  'pg-boss': { named: true, why: 'jobs in Postgres' },
  pino: { named: true, why: 'logs' },
  'prom-client': { named: true, why: 'metrics' },
  undici: { named: true, why: 'HTTP to the service' },
  zod: { named: true, why: 'validation' },
};
const BIGGEST = 15;

/**
 * What the tarball weighs once it is installed, beside the packages that its bundle is made of, Bolt alone, and Bolt with
 * the packages that the design names.
 */
export async function installSize(): Promise<void> {
  const own = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const unexplained = Object.keys(own.dependencies).filter((name) => WHY[name] === undefined);
  if (unexplained.length > 0) throw new Error(`It is not said what these are for: ${unexplained.join(', ')}`);
  const only = (isMeant: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(own.dependencies).filter(([name]) => isMeant(name)));
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-install-'));
  try {
    const tarball = installTarball(folder);
    const sources = installOwn(join(folder, 'sources'));
    const named = installOf(
      join(folder, 'named'),
      only((name) => WHY[name]?.named === true),
      own.overrides,
    );
    const bolt = installOf(
      join(folder, 'bolt'),
      only((name) => name === '@slack/bolt'),
      {},
    );
    const row = (who: string, { packages, bytes }: Install) => [
      who,
      packages.length,
      mega(bytes),
      (bytes / named.bytes).toFixed(2),
    ];
    printTable(
      ['install', 'packages', 'disk', 'against the named ones'],
      [
        row('Deckhand', tarball),
        row('Deckhand from its sources, with every package', sources),
        row('Bolt and the packages that the design names', named),
        row('Bolt', bolt),
      ],
    );
    console.log();
    printTable(['package', 'disk', 'brought by', 'for'], biggest(tarball, ['deckhand']));
    console.log();
    printTable(['package', 'disk', 'brought by', 'for'], biggest(sources, Object.keys(own.dependencies)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As operators do: the bundle, and what it cannot hold. `npm pack` builds it. */
function installTarball(folder: string): Install {
  const args = ['pack', '--json', '--pack-destination', folder, '--loglevel=error'];
  const printed = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename }] = Packed.parse(JSON.parse(printed));
  return installOf(join(folder, 'tarball'), { deckhand: `file:${join(folder, filename)}` }, {});
}

/** From the lock file, as the container's first stage does. */
function installOwn(folder: string): Install {
  mkdirSync(folder);
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(root, file), join(folder, file));
  return install(folder, 'ci');
}

function installOf(
  folder: string,
  dependencies: Record<string, string>,
  overrides: Record<string, string>,
): Install {
  mkdirSync(folder);
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  return install(folder, 'install');
}

function biggest({ packages, broughtBy }: Install, direct: readonly string[]): string[][] {
  return packages.slice(0, BIGGEST).map(({ path, name, bytes }) => {
    const by = broughtBy(path, direct);
    const reasons = new Set(by.map((one) => WHY[one]?.why ?? ''));
    return [name, mega(bytes), by.join(', '), [...reasons].join('; ')];
  });
}
