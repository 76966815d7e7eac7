import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { INTERNAL_PATHS, PUBLIC_PATHS, readText, readYaml } from '../support/deployment-files.ts';

/** Deckhand refuses larger bodies itself. */
const LARGEST_BODY = 5;

/** As nginx chooses: an exact location first, then the longest prefix. */
function nginxForwards(config: string, path: string): boolean {
  const locations = [...config.matchAll(/location (= )?(\S+) \{([^}]*)\}/g)].map(
    ([, exact, prefix = '', body = '']) => ({ isExact: exact !== undefined, prefix, body }),
  );
  const chosen =
    locations.find(({ isExact, prefix }) => isExact && prefix === path) ??
    locations
      .filter(({ isExact, prefix }) => !isExact && path.startsWith(prefix))
      .toSorted((one, other) => other.prefix.length - one.prefix.length)[0];
  return chosen?.body.includes('proxy_pass http://deckhand;') ?? false;
}

/** As Caddy matches: `/slack/*` is a prefix, anything else exact. */
function caddyForwards(config: string, path: string): boolean {
  const patterns = /^\s*@public path (.+)$/m.exec(config)?.[1]?.split(' ') ?? [];
  return patterns.some((one) => (one.endsWith('/*') ? path.startsWith(one.slice(0, -1)) : one === path));
}

describe.each([
  ['nginx', 'deploy/proxy/nginx.conf', nginxForwards],
  ['Caddy', 'deploy/proxy/Caddyfile', caddyForwards],
])('the example for %s', (_, path, forwards) => {
  const config = readText(path);

  it('shows the public pages and routes to the world, and no other', () => {
    expect(PUBLIC_PATHS.filter((one) => !forwards(config, one))).toEqual([]);
    expect(INTERNAL_PATHS.filter((one) => forwards(config, one))).toEqual([]);
    expect(config).toMatch(/(?:return|respond) 404/);
  });

  it('takes bodies as large as Deckhand does, and closes every brace', () => {
    const [, size] = /(?:client_max_body_size|max_size) (\d+)m/i.exec(config) ?? [];
    expect(Number(size)).toBeGreaterThan(LARGEST_BODY);
    const code = config.replaceAll(/#.*$/gm, '');
    expect(code.split('{').length).toBe(code.split('}').length);
  });

  it('forwards to the port that Deckhand listens on', () => {
    expect(config).toContain('127.0.0.1:3000');
  });
});

const CADDY = '/usr/bin/caddy';
const hasCaddy = spawnSync(CADDY, ['version']).status === 0;

it.skipIf(!hasCaddy)('the example for Caddy has no fault that Caddy knows', () => {
  const { status, stderr } = spawnSync(CADDY, ['validate', '--config', 'deploy/proxy/Caddyfile'], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
});

describe('the example for log shipping', () => {
  const Step = z.looseObject({ type: z.string(), inputs: z.array(z.string()).optional() });
  const Vector = z.strictObject({
    data_dir: z.string(),
    sources: z.record(z.string(), Step),
    transforms: z.record(z.string(), Step),
    sinks: z.record(z.string(), Step),
  });
  const { sources, transforms, sinks } = Vector.parse(readYaml('deploy/logs/vector.yaml'));

  it('leads every input from a step that there is', () => {
    const outputs = [...Object.keys(sources), ...Object.keys(transforms)];
    for (const { inputs = [] } of [...Object.values(transforms), ...Object.values(sinks)])
      for (const input of inputs) expect(outputs).toContain(input);
    const used = [...Object.values(transforms), ...Object.values(sinks)].flatMap(({ inputs = [] }) => inputs);
    expect(outputs.filter((name) => !used.includes(name))).toEqual([]);
  });

  it('keeps the audit lines by the event that Deckhand gives them', () => {
    expect(transforms.audit?.condition).toBe('.event == "audit"');
    expect(readText('src/records/audit-log.ts')).toContain("event: 'audit'");
  });

  it('reads the unit that deploy/systemd has', () => {
    expect(sources.journal?.include_units).toEqual(['deckhand.service']);
  });
});
