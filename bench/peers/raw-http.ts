import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { sayListening } from '../support/processes.ts';

// The limit: Node's own server and the check of the signature, without a look at what is inside.
const secret = process.env.SLACK_SIGNING_SECRET ?? '';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { 'x-slack-signature': given, 'x-slack-request-timestamp': at } = request.headers;
    const body = Buffer.concat(chunks);
    const digest = createHmac('sha256', secret).update(`v0:${at}:`).update(body).digest('hex');
    const [one, other] = [Buffer.from(`v0=${digest}`), Buffer.from(String(given))];
    const isSigned = one.length === other.length && timingSafeEqual(one, other);
    response.writeHead(isSigned ? 200 : 401).end();
  });
});
server.listen(0, '127.0.0.1', () => sayListening((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
