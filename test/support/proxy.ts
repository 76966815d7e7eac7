import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenHere } from './free-port.ts';

export interface ServiceProxy {
  origin: string;
  /** Where requests go on to. */
  target: string;
  /** Changes or holds an answer on its way back. */
  change: (body: string, path: string) => string | Promise<string>;
  close(): Promise<void>;
}

/** Stands between Deckhand and the simulated service, and changes what the service says. */
export async function openProxy(): Promise<ServiceProxy> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = new Headers(
      Object.entries(request.headers).filter(
        (pair): pair is [string, string] => typeof pair[1] === 'string' && !HOP.has(pair[0]),
      ),
    );
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
    const answer = await answerOf(`${proxy.target}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      redirect: 'manual',
      ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
    });
    if (answer === undefined) return void response.destroy();
    const { type, bytes } = answer;
    const isText = type.includes('json');
    const body = isText ? Buffer.from(await proxy.change(bytes.toString(), request.url ?? '')) : bytes;
    response.writeHead(answer.status, { 'content-type': type, 'content-length': body.length }).end(body);
  });
  const proxy: ServiceProxy = {
    origin: `http://${await listenHere(server)}`,
    target: '',
    change: (body) => body,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

/** Undefined where the service is gone, or goes meanwhile: then the connection breaks, as it would without us. */
async function answerOf(
  url: string,
  init: RequestInit,
): Promise<{ status: number; type: string; bytes: Buffer } | undefined> {
  try {
    const answer = await fetch(url, init);
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', bytes };
  } catch {
    return undefined;
  }
}

const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);
