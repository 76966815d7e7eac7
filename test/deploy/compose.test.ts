import { describe, expect, it } from 'vitest';
import {
  INTERNAL_PATHS,
  readText,
  readYaml,
  startFaults,
  unknownVariables,
} from '../support/deployment-files.ts';

interface Service {
  environment: Record<string, string>;
  networks: string[];
  ports?: string[];
  healthcheck: { test: string[] };
}
interface Compose {
  services: { deckhand: Service & Record<string, unknown>; postgres: Service };
  networks: Record<string, object>;
}

const compose = readYaml('compose.yml') as Compose;
const { deckhand, postgres } = compose.services;

/** As Compose does it, with one value for each variable. */
function interpolate(text: string, value: string): string {
  return text.replaceAll(/\$\{\w+:\?[^}]*\}/g, value);
}

describe('compose.yml', () => {
  it('sets variables that Deckhand reads, to values that it takes', () => {
    const env = Object.entries(deckhand.environment).map(([name, value]) => [name, interpolate(value, 'a1')]);
    expect(unknownVariables(Object.keys(deckhand.environment))).toEqual([]);
    expect(startFaults(Object.fromEntries(env))).toEqual([]);
  });

  it('joins Deckhand to the database that it starts, with the same password, which it does not hold', () => {
    const url = new URL(interpolate(deckhand.environment.STORE_URL ?? '', 'a1'));
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD = '' } = postgres.environment;
    const place = [url.hostname, url.username, url.pathname];
    expect(place).toEqual(['postgres', POSTGRES_USER, `/${POSTGRES_DB}`]);
    expect(POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?.+\}$/);
    expect(url.password).toBe(interpolate(POSTGRES_PASSWORD, 'a1'));
    expect(deckhand).toMatchObject({
      env_file: '.env',
      depends_on: { postgres: { condition: 'service_healthy' } },
      networks: expect.arrayContaining(postgres.networks),
    });
    expect(readText('compose.yml')).not.toMatch(/xox|ENCRYPTION_KEYS|SIGNING_SECRET/);
  });

  it('publishes Deckhand to the proxy and the Prometheus of the same machine, and the database to nothing', () => {
    expect(postgres.ports).toBeUndefined();
    expect(postgres.networks.map((name) => compose.networks[name])).toEqual([{ internal: true }]);
    const { PORT, METRICS_PORT } = deckhand.environment;
    expect(deckhand.ports).toEqual([`127.0.0.1:3000:${PORT}`, `127.0.0.1:9464:${METRICS_PORT}`]);
  });

  it('asks each container how it is, and gives Deckhand a read-only system, no rights, and time to end', () => {
    const [, path] = /127\.0\.0\.1:3000(\/\w+)/.exec(deckhand.healthcheck.test.join(' ')) ?? [];
    expect(INTERNAL_PATHS).toContain(path);
    expect(postgres.healthcheck.test).toContain('pg_isready');
    expect(deckhand).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(Number.parseInt(String(deckhand.stop_grace_period), 10)).toBeGreaterThan(25);
  });
});

it('deploy/render.yaml sets variables that Deckhand reads, and holds no secret', () => {
  const { services, databases } = readYaml('deploy/render.yaml') as {
    services: Array<{
      healthCheckPath: string;
      envVars: Array<{ key: string; value?: string; sync?: false }>;
    }>;
    databases: Array<{ name: string; ipAllowList: [] }>;
  };
  const [{ healthCheckPath, envVars } = { healthCheckPath: '', envVars: [] }] = services;
  const values = envVars.filter(({ value }) => value !== undefined).map(({ key, value }) => [key, value]);
  const env = { ...Object.fromEntries(values), STORE_URL: 'postgresql://u:p@host/deckhand' };
  expect(unknownVariables(envVars.map(({ key }) => key))).toEqual([]);
  expect(startFaults(env)).toEqual([]);
  expect(INTERNAL_PATHS).toContain(healthCheckPath);
  expect(envVars.find(({ key }) => key === 'STORE_URL')).toMatchObject({
    fromDatabase: { name: databases[0]?.name, property: 'connectionString' },
  });
  expect(databases[0]?.ipAllowList).toEqual([]);
});
