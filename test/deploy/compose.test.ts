import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  INTERNAL_PATHS,
  readText,
  readYaml,
  startFaults,
  unknownVariables,
} from '../support/deployment-files.ts';

const duration = z.string().regex(/^(\d+(h|m|s))+$/);

/** The part of the Compose specification that compose.yml uses; a misspelt key is refused. */
const Service = z.strictObject({
  build: z.string().optional(),
  image: z.string().optional(),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.string()),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_started', 'service_healthy']) }))
    .optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  healthcheck: z.strictObject({
    test: z.tuple([z.literal('CMD')], z.string()),
    interval: duration,
    timeout: duration,
    start_period: duration,
    retries: z.int().positive(),
  }),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  stop_grace_period: duration,
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  shm_size: z.string().optional(),
  networks: z.array(z.string()),
});
const Compose = z.strictObject({
  name: z.string(),
  services: z.strictObject({ deckhand: Service, postgres: Service }),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.null()),
});

const compose = Compose.parse(readYaml('compose.yml'));
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

  it('joins Deckhand to the database that it starts, with the same password', () => {
    const url = new URL(interpolate(deckhand.environment.STORE_URL ?? '', 'a1'));
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD = '' } = postgres.environment;
    expect([url.hostname, url.username, url.pathname]).toEqual([
      'postgres',
      POSTGRES_USER,
      `/${POSTGRES_DB}`,
    ]);
    expect(url.password).toBe(interpolate(POSTGRES_PASSWORD, 'a1'));
    expect(deckhand.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(deckhand.networks).toEqual(expect.arrayContaining(postgres.networks));
  });

  it('holds no secret, and refuses to start without one', () => {
    expect(readText('compose.yml')).not.toMatch(/xox|ENCRYPTION_KEYS|SIGNING_SECRET/);
    expect(deckhand.env_file).toBe('.env');
    expect(postgres.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?.+\}$/);
  });

  it('publishes Deckhand to the proxy and the Prometheus of the same machine, and the database to nothing', () => {
    expect(postgres.ports).toBeUndefined();
    expect(postgres.networks.map((name) => compose.networks[name])).toEqual([{ internal: true }]);
    const { PORT, METRICS_PORT } = deckhand.environment;
    expect(deckhand.ports).toEqual([`127.0.0.1:3000:${PORT}`, `127.0.0.1:9464:${METRICS_PORT}`]);
  });

  it('asks each container how it is, Deckhand by a route that there is', () => {
    const [, path] = /127\.0\.0\.1:3000(\/\w+)/.exec(deckhand.healthcheck.test.join(' ')) ?? [];
    expect(INTERNAL_PATHS).toContain(path);
    expect(postgres.healthcheck.test).toContain('pg_isready');
  });

  it('gives Deckhand a read-only system, no rights, and time to end its work', () => {
    expect(deckhand).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(Number.parseInt(deckhand.stop_grace_period, 10)).toBeGreaterThan(25);
  });
});
