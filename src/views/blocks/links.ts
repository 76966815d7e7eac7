import { LIMITS } from './limits.ts';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A foreign address that may stand on a button: https, or a service on this very machine; undefined for any other. */
export function safeUrl(url: string | null | undefined): string | undefined {
  if (!url || url.length > LIMITS.buttonUrl || !URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return undefined;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname)) ? url : undefined;
}
