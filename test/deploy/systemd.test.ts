import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { CONFIG_EXIT_CODE, TEMPORARY_EXIT_CODE } from '../../src/config.ts';
import { readText, readVariables, startFaults, unknownVariables } from '../support/deployment-files.ts';

const unit = readText('deploy/systemd/deckhand.service');
const env = readVariables('deploy/systemd/deckhand.env');
const folder = mkdtempSync(join(tmpdir(), 'deckhand-unit-'));
const path = join(folder, 'deckhand.service');
// The unit's own Node is that of the server; systemd checks that it is there.
writeFileSync(path, unit.replace('=node ', `=${process.execPath} `));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

afterAll(() => rmSync(folder, { recursive: true }));

function valuesOf(key: string): string[] {
  return [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

function analyze(...args: string[]): [status: number | null, faults: string] {
  const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return [status, stderr];
}

describe('the systemd unit', () => {
  it('sets variables that Deckhand reads, to values that it takes', () => {
    expect(unknownVariables(Object.keys(env))).toEqual([]);
    expect(startFaults(env)).toEqual([]);
    expect(valuesOf('Environment')).toEqual([]);
    expect(valuesOf('EnvironmentFile')).toEqual(['/etc/deckhand.env']);
  });

  it('runs the tarball where npm installs it, with a Node in /usr/local or /usr', () => {
    const { bin, name } = JSON.parse(readText('package.json'));
    expect(valuesOf('ExecStart')).toEqual([`node node_modules/${name}/${bin.deckhand}`]);
  });

  it('writes to its own folders alone', () => {
    const [store, cache] = [valuesOf('StateDirectory')[0], valuesOf('CacheDirectory')[0]];
    expect(env.STORE_URL).toContain(`sqlite:///var/lib/${store}/`);
    expect(env.NODE_COMPILE_CACHE).toBe(`/var/cache/${cache}`);
    expect(valuesOf('ProtectSystem')).toEqual(['strict']);
  });

  it('starts again after a failure that may pass, but not with a faulty configuration, and waits for the work to end', () => {
    expect(valuesOf('Restart')).toEqual(['on-failure']);
    const prevented = valuesOf('RestartPreventExitStatus').join(' ').split(' ').map(Number);
    expect(prevented).toContain(CONFIG_EXIT_CODE);
    expect(prevented).not.toContain(TEMPORARY_EXIT_CODE);
    // Further apart than systemd's own limit of five starts in ten seconds: a database may be down for hours.
    expect(Number(valuesOf('RestartSec')[0])).toBeGreaterThan(2);
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(25);
  });

  it.skipIf(!hasSystemd)('has no fault that systemd knows, and is shut in well by its measure', () => {
    expect(analyze('verify', path)).toEqual([0, '']);
    expect(analyze('security', '--offline=true', '--threshold=20', path)).toEqual([0, '']);
  });
});

describe('the nightly backup', () => {
  const backup = readText('deploy/systemd/deckhand-backup.service');

  it('runs what the service runs, as the same user, with the same settings', () => {
    for (const key of ['User', 'WorkingDirectory', 'EnvironmentFile'])
      expect(backup).toContain(`\n${key}=${valuesOf(key)[0]}\n`);
    expect(backup).toContain(`${valuesOf('ExecStart')[0]} backup `);
  });

  it('is shut in as well as the service', () => {
    const hardening =
      /^(?:NoNew|Capability|Ambient|Protect|Private|Remove|Restrict[ANRS]|Lock|SystemCall|UMask)\w*=.*$/gm;
    const missing = (unit.match(hardening) ?? []).filter((line) => !backup.includes(`\n${line}\n`));
    // It needs no network at all.
    expect(missing).toEqual(['RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX']);
    expect(backup).toContain('\nPrivateNetwork=yes\n');
  });

  it.skipIf(!hasSystemd)('has no fault that systemd knows, and is shut in well by its measure', () => {
    const files = ['service', 'timer'].map((kind) => {
      const file = join(folder, `deckhand-backup.${kind}`);
      const text = readText(`deploy/systemd/deckhand-backup.${kind}`);
      writeFileSync(file, text.replace('exec node ', `exec ${process.execPath} `));
      return file;
    });
    expect(analyze('verify', ...files)).toEqual([0, '']);
    expect(analyze('security', '--offline=true', '--threshold=20', files[0] ?? '')).toEqual([0, '']);
  });
});
