import { createServer } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { openTestWorld } from '../support/test-world.ts';

const statusOf = async (address: string): Promise<number> => (await fetch(address)).status;

test('METRICS_PORT serves metrics and probes, and takes the metrics from the public port', async () => {
  const port = await freePort();
  const world = await openTestWorld({ env: { METRICS_PORT: String(port) } });
  onTestFinished(() => world.stop());
  // `port` in the log is the public one alone, so that a script that waits for it finds no other.
  expect(await world.logged('metrics_listening')).toContain(`"metricsPort":${port}`);
  const own = `http://127.0.0.1:${port}`;
  expect(await statusOf(`${world.origin}/metrics`)).toBe(404);
  for (const path of ['/healthz', '/readyz']) {
    expect(await statusOf(`${own}${path}`), path).toBe(200);
    expect(await statusOf(`${world.origin}${path}`), path).toBe(200);
  }
  expect(await (await fetch(`${own}/metrics`)).text()).toContain('deckhand_');
  for (const path of ['/', '/privacy', '/slack/events', '/slack/install'])
    expect(await statusOf(`${own}${path}`), path).toBe(404);
});

test('without METRICS_PORT the metrics stand on the one port', async ({ world }) => {
  expect(await statusOf(`${world.origin}/metrics`)).toBe(200);
});

test('a METRICS_PORT in use is named, and one that is PORT is a fault', async () => {
  const port = String(await freePort());
  const other = createServer().listen(Number(port), '127.0.0.1');
  onTestFinished(() => void other.close());
  const env = { ...MIN_ENV, METRICS_PORT: port, STORE_URL: await temporarySqlite() };
  const inUse = await runDeckhand({ env });
  expect([inUse.code, inUse.err]).toEqual([75, expect.stringMatching(new RegExp(`${port}.* METRICS_PORT`))]);
  expect(() => parseConfig({ ...env, PORT: port })).toThrow('METRICS_PORT must not be PORT');
});
