import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { Fault } from '../../src/cli/program.ts';
import { startFault } from '../../src/cli/start.ts';
import { parseConfig, readVersion } from '../../src/config.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { openBackend, openDeckhand } from '../../src/open.ts';
import { test as it } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { MIN_ENV } from '../support/run-deckhand.ts';
import { temporaryFolder, temporarySqlite } from '../support/temporary.ts';

/** As a start of the process ends at this store; what else the process says of it is asked of some of them. */
async function startOn(url: string): Promise<Fault | undefined> {
  try {
    const { close } = await openBackend(url, { clock: systemClock, release: readVersion() });
    await close();
    return undefined;
  } catch (error) {
    return startFault(error, url);
  }
}

/** As a start of the process ends at this address. */
async function startAt(env: Record<string, string>): Promise<Fault | undefined> {
  const config = parseConfig({ ...MIN_ENV, STORE_URL: await temporarySqlite(), ...env });
  const log = createLog('silent', () => undefined);
  const { app, close } = await openDeckhand(config, { log, version: readVersion() });
  onTestFinished(async () => {
    await app.stop(0);
    await close();
  });
  try {
    await app.start();
    return undefined;
  } catch (error) {
    return startFault(error, config.STORE_URL);
  }
}

function expectFault(fault: Fault | undefined, exitCode: number, ...words: string[]): void {
  for (const word of words) expect(fault?.sentence).toContain(word);
  expect(fault?.sentence).toMatch(/^[^\n]+\.$/);
  expect(fault?.sentence).not.toMatch(/canary| {2,}at |node:internal/);
  expect(fault?.exitCode).toBe(exitCode);
}

it('a data folder that cannot be made or written is named', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  const fault = await startOn(`sqlite://${folder}/file/data/deckhand.sqlite`);
  expectFault(fault, 78, `${folder}/file/data`, 'STORE_URL');
  // Root too can write nothing there.
  expectFault(await startOn('sqlite:///proc/deckhand.sqlite'), 78, '/proc/deckhand.sqlite');
});

describe('an SQLite file', () => {
  async function fileWith(bytes: Buffer | string): Promise<string> {
    const path = join(await temporaryFolder(), 'deckhand.sqlite');
    await writeFile(path, bytes);
    return path;
  }

  it('that is none is named, and nothing is left beside it', async () => {
    const path = await fileWith('This is a letter to the operator, and no database at all. '.repeat(50));
    expectFault(await startOn(`sqlite://${path}`), 78, path, 'is not an SQLite database');
    expect(readdirSync(dirname(path))).toEqual(['deckhand.sqlite']);
  });

  it('that is damaged is named', async () => {
    const path = await fileWith('');
    expect(await startOn(`sqlite://${path}`)).toBeUndefined();
    const bytes = readFileSync(path);
    await writeFile(path, bytes.fill(0xee, 100));
    expectFault(await startOn(`sqlite://${path}`), 78, path, 'is damaged');
  });
});

it('a port in use is named, and so is an address of another machine', async () => {
  const port = await listen(createServer());
  expectFault(await startAt({ PORT: String(port) }), 75, `Port ${port}`, 'in use', 'PORT');
  expectFault(await startAt({ HOST: '192.0.2.1' }), 78, '192.0.2.1', 'HOST');
});

it('without HOST, IPv4 and IPv6 are listened on', async () => {
  const { HOST: _, ...env } = MIN_ENV;
  const config = parseConfig({ ...env, STORE_URL: await temporarySqlite() });
  const log = createLog('silent', () => undefined);
  const { app, close } = await openDeckhand(config, { log, version: readVersion() });
  onTestFinished(async () => {
    await app.stop(0);
    await close();
  });
  const { port } = await app.start();
  for (const host of ['127.0.0.1', ...(hasIpv6() ? ['[::1]'] : [])])
    expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200);
});

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('Postgres', () => {
  /** Answers each connection with this error, as Postgres' protocol has it. */
  async function refusing(code: string, message: string): Promise<number> {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
    const head = Buffer.alloc(5);
    head.write('E');
    head.writeUInt32BE(fields.length + 4, 1);
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([head, fields])));
    });
    return listen(server);
  }
  const at = (server: string) => `postgres://deck:canary@${server}/hand`;

  it('that does not answer, is unknown or has no certificate is named', async () => {
    const server = `127.0.0.1:${await freePort()}`;
    expectFault(await startOn(at(server)), 75, server, 'does not answer');
    const fault = await startOn(at('postgres.invalid'));
    // Its container may not have its name yet.
    expectFault(fault, 75, 'postgres.invalid', 'STORE_URL');
    const socket = await startOn('postgres:///hand?host=/nowhere/postgresql');
    expectFault(socket, 75, '/nowhere/postgresql/.s.PGSQL.5432', 'STORE_URL');
    const url = `${at('127.0.0.1')}?sslrootcert=/nowhere/root.crt`;
    expectFault(await startOn(url), 78, '/nowhere/root.crt', 'STORE_URL');
  });

  it.each([
    ['57P01', 'terminating connection due to administrator command', 75, 'is shutting down'],
    ['28P01', 'password authentication failed for user "deck"', 78, 'refuses the user or the password'],
    ['3D000', 'database "hand" does not exist', 78, 'has no database hand'],
    ['57P03', 'the database system is starting up', 75, 'is starting up'],
    ['53300', 'sorry, too many clients already', 75, 'no free connections'],
    ['XX000', 'something else', 75, 'something else (XX000)'],
  ])('that answers %s (%s) ends the start with its sentence', async (code, message, exitCode, words) => {
    const server = `127.0.0.1:${await refusing(code, message)}`;
    expectFault(await startOn(at(server)), exitCode, server, words);
  });
});
