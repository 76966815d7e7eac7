/** Where a request goes: to one account, or to the service's own host. */
export interface Address {
  /** Undefined for the service's own host. */
  account: string | undefined;
  /** Without the account and without `.json`. */
  path: string;
  /** The account's address as the caller wrote it. */
  baseUrl: string;
}

/** First segments that can never be accounts. */
export const RESERVED = new Set([
  'api',
  'docs',
  'docs.json',
  'oauth',
  'integrations',
  'verify_email',
  '.well-known',
  '_control',
  'favicon.ico',
]);

/** Reads both ways to name an account: `{account}.localhost` and `/{account}/…`. */
export function readAddress(url: URL, origin: string): Address {
  const fromHost = /^([^.]+)\.localhost$/.exec(url.hostname)?.[1];
  if (fromHost !== undefined)
    return { account: fromHost, path: plainPath(url.pathname), baseUrl: url.origin };
  const [, first = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(url.pathname) ?? [];
  if (first === '' || RESERVED.has(first)) return { account: undefined, path: url.pathname, baseUrl: origin };
  return { account: first, path: plainPath(rest), baseUrl: `${origin}/${first}` };
}

/** Spec 1: any path may carry the suffix. */
function plainPath(path: string): string {
  return path.replace(/\.json$/, '') || '/';
}
