import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';

/** A proxy as companies have them. @param names ports on this machine by host, for CONNECT */
export async function openForwardProxy(names: Readonly<Record<string, number>> = {}) {
  /** What passed: `CONNECT slack.test:443`, or `POST http://127.0.0.1:1234`. */
  const passed: string[] = [];
  /** The `Proxy-Authorization` headers. */
  const authorizations = new Set<string | undefined>();
  const open = new Set<Duplex>();
  let refusal: number | undefined;
  let isSilent = false;

  function note(what: string, { headers }: IncomingMessage): void {
    passed.push(what);
    authorizations.add(headers['proxy-authorization']);
  }
  function joinUp(client: Duplex, upstream: Socket): void {
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    client.on('close', () => upstream.destroy()).pipe(upstream);
    upstream.on('close', () => client.destroy()).pipe(client);
  }

  const server = createServer((request, response) => {
    const { origin } = new URL(request.url ?? '');
    note(`${request.method} ${origin}`, request);
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    const { method, headers, url = '' } = request;
    const onward = send(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    note(`CONNECT ${request.url}`, request);
    if (refusal !== undefined) return void client.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    if (isSilent) return;
    const [host = '', port] = (request.url ?? '').split(':');
    const upstream = connect(names[host] ?? Number(port), '127.0.0.1');
    upstream.once('connect', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    joinUp(client, upstream);
  });
  server.on('upgrade', (request: IncomingMessage, client: Duplex) => {
    const { host, port, pathname, search } = new URL(request.url ?? '');
    note(`UPGRADE ${host}`, request);
    if (isSilent) return;
    const upstream = connect(Number(port), '127.0.0.1');
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    upstream.write(`GET ${pathname}${search} HTTP/1.1\r\n${headers.join('')}\r\n`);
    joinUp(client, upstream);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    passed,
    authorizations,
    /** From now on nothing more is carried, in either direction, and nobody is told. */
    goSilent(): void {
      isSilent = true;
      for (const socket of open) socket.unpipe().pause();
    },
    /** Carries again, on new connections. */
    speak(): void {
      isSilent = false;
    },
    /** Answers everything with this status. */
    refuseWith(status: number): void {
      refusal = status;
    },
  };
}

/** A certificate that nobody trusts but who is given its file. */
export async function makeCertificate(): Promise<{ file: string; key: string; cert: string }> {
  const folder = await temporaryFolder();
  const [file, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = 'subjectAltName=DNS:slack.test,DNS:service.test,IP:127.0.0.1';
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const paths = ['-keyout', keyFile, '-out', file];
  const subject = ['-subj', '/CN=test', '-addext', names];
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...subject, ...paths]);
  const [key, cert] = await Promise.all([readFile(keyFile, 'utf8'), readFile(file, 'utf8')]);
  return { file, key, cert };
}

/** TLS in front of something on this machine. @returns the port */
export async function openTls(options: { key: string; cert: string }, target: number): Promise<number> {
  const server = createTlsServer(options, (socket) => {
    const upstream = connect(target, '127.0.0.1');
    socket.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => socket.destroy()).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
