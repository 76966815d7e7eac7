import type { IncomingMessage } from 'node:http';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * A cookie that only `url` gets back, for ten minutes, out of reach of any script. Lax, because the browser comes back
 * from another site; Secure, unless this machine talks to itself.
 */
export function cookieLine({ name, value }: { name: string; value: string }, url: URL): string {
  const secure = url.protocol !== 'https:' && LOOPBACK.has(url.hostname) ? '' : '; Secure';
  return `${name}=${value}; Path=${url.pathname}; Max-Age=600; HttpOnly; SameSite=Lax${secure}`;
}

export function cookiesOf(request: IncomingMessage): Record<string, string | undefined> {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return Object.fromEntries(pairs.map(([name = '', value]) => [name, value]));
}
