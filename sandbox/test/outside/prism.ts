import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text as readText } from 'node:stream/consumers';
import { parse } from 'yaml';
import { z } from 'zod';
import { freePort } from '../../../test/support/free-port.ts';
import { startSimulatedService } from '../../service/server.ts';

const PRISM_VERSION = '5.16.0';
const START_MS = 180_000;
const DocumentSchema = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

/** What one request of Deckhand met at Prism. */
export interface Met {
  method: string;
  path: string;
  status: number;
  /** Prism's own word where it refused, as `NO_PATH_MATCHED_ERROR`. */
  refusal: string | undefined;
  detail: string;
}

export type PlayedService = Awaited<ReturnType<typeof playDocument>>;

interface Kept {
  status: number;
  type: string;
  body: string;
}

/** A document of somebody's service, in JSON or YAML; without a path the one of our simulated service. */
async function readDocument(path: string | undefined, folder: string) {
  const file = path ?? join(folder, 'openapi.json');
  if (path === undefined) {
    const service = await startSimulatedService();
    service.world.setDescription({ description: 'whole' });
    await writeFile(file, await (await fetch(`${service.siteUrl}/docs.json`)).text());
    await service.stop();
  }
  const { paths } = DocumentSchema.parse(parse(await readFile(file, 'utf8')));
  return { file, paths: Object.keys(paths) };
}

/**
 * Prism, and before it a server that takes off the account's name and `.json`, keeps what was met, and gives the same
 * answer to the same GET: Prism draws a new one each time, which no service does.
 */
export async function playDocument(path: string | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-outside-'));
  const document = await readDocument(path, folder);
  const prism = await startPrism(document.file);
  const met: Met[] = [];
  const kept = new Map<string, Kept>();
  let mode = 'static';

  async function answer(request: IncomingMessage): Promise<Kept> {
    const method = request.method ?? 'GET';
    const path = inDocument(request.url ?? '/', document.paths);
    const known = method === 'GET' ? kept.get(path) : undefined;
    if (known !== undefined) return known;
    const given = await askPrism(prism.origin + path, request, mode === 'dynamic');
    met.push({ method, path, status: given.status, ...readRefusal(given) });
    if (method === 'GET') kept.set(path, given);
    return given;
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/{account}`,
    met,
    /** From here on answers are examples of the document, or drawn from its schemas. */
    play(next: 'static' | 'dynamic'): void {
      mode = next;
      kept.clear();
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      prism.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The address as the document writes it: below the account, with `.json` only where the document has it. */
function inDocument(url: string, paths: readonly string[]): string {
  const { pathname, search } = new URL(url, 'http://localhost');
  const path = pathname.replace(/^\/[^/]+/, '');
  const known = paths.includes(path) ? path : path.replace(/\.json$/, '');
  return known + search;
}

async function askPrism(address: string, request: IncomingMessage, isDynamic: boolean): Promise<Kept> {
  const body = await readText(request);
  const { authorization = '', accept = '*/*', 'content-type': sent = 'application/json' } = request.headers;
  const response = await fetch(address, {
    method: request.method ?? 'GET',
    headers: {
      authorization,
      accept,
      'content-type': sent,
      ...(isDynamic ? { prefer: 'dynamic=true' } : {}),
    },
    // Prism refuses even an empty object where a document names no body; no service is that strict.
    ...(body === '' || body === '{}' ? {} : { body }),
  });
  const type = response.headers.get('content-type') ?? 'application/json';
  return { status: response.status, type, body: await response.text() };
}

function readRefusal({ type, body }: Kept): Pick<Met, 'refusal' | 'detail'> {
  const refusal = /stoplight\.io\/prism\/errors#(\w+)/.exec(body)?.[1];
  return { refusal: type.includes('problem+json') ? refusal : undefined, detail: body.slice(0, 400) };
}

async function startPrism(file: string): Promise<{ origin: string; stop(): void }> {
  const port = await freePort();
  const npx = ['--yes', '--ignore-scripts', `@stoplight/prism-cli@${PRISM_VERSION}`];
  const words = ['mock', '--host', '127.0.0.1', '--port', String(port), file];
  const child = spawn('npx', [...npx, ...words], { stdio: 'pipe', detached: true });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const failed = (): void => reject(new Error(`Prism did not start: ${output.slice(-2_000)}`));
    setTimeout(failed, START_MS).unref();
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        output += part.toString();
        if (output.includes('Prism is listening')) resolve();
      });
    child.once('exit', failed);
  });
  // npx runs Prism as a child of its own.
  const stop = () => void process.kill(-(child.pid ?? Number.NaN));
  return { origin: `http://127.0.0.1:${port}`, stop };
}
