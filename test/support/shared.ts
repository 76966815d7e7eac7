import { createServer } from 'node:http';
import process from 'node:process';
import type { BrowserServer } from 'playwright-core';
import { systemClock } from '../../src/core/time/clock.ts';
import { bundle } from './bundle.ts';
import { listenHere } from './free-port.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** What all workers of a run share. Each is made when it is asked for first. */
type Shared = 'browser' | 'bundle' | 'database' | 'empty-database';

/** Vitest calls this once a run, before it starts its workers. */
export async function setup(): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined;
  let bundled: Promise<string> | undefined;
  let postgres: Promise<PostgresServer> | undefined;
  let prepared: Promise<string> | undefined;
  const databases = (): Promise<PostgresServer> => {
    postgres ??= startPostgres();
    return postgres;
  };
  const make: Record<Shared, () => Promise<string>> = {
    async browser() {
      browser ??= import('../../sandbox/test/support/chromium.ts').then(({ startChromium }) =>
        startChromium(),
      );
      return (await browser).wsEndpoint();
    },
    bundle() {
      bundled ??= bundle();
      return bundled;
    },
    async database() {
      const { createDatabase } = await databases();
      prepared ??= createDatabase().then(prepare);
      return createDatabase(await prepared);
    },
    'empty-database': async () => (await databases()).createDatabase(),
  };
  const server = createServer(async ({ url = '' }, response) => {
    try {
      response.end(await make[url.slice(1) as Shared]());
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  process.env.DECKHAND_TEST_SHARED = `http://${await listenHere(server)}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all([(await browser)?.close(), (await postgres)?.stop()]);
  };
}

/** Makes Deckhand's tables in it: pg-boss takes longer for that than most tests for all else. */
async function prepare(url: string): Promise<string> {
  const { openBackend } = await import('../../src/open.ts');
  const { engine, close } = await openBackend(url, { clock: systemClock });
  await engine.start();
  await engine.stop(0);
  await close();
  return url;
}

/**
 * @returns Chromium's address, the bundle's folder, or the address of a database that nobody else has: with Deckhand's
 * tables, or empty
 */
export async function shared(what: Shared): Promise<string> {
  const answer = await fetch(`${process.env.DECKHAND_TEST_SHARED}/${what}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
