import { parseAccountName } from './account-name.ts';
import { BaseUrl } from './base-url.ts';

/** What an address of the service is about; `project` and `server` as it names them. */
export interface Addressed {
  account: string;
  /** A permalink or identifier. */
  project: string;
  /** An identifier. */
  server?: string;
}

/**
 * The project or server that an address is about: `{base_url}/projects/<permalink>[/servers/<id>…]`, under exactly the
 * host, port and path of the account's {base_url} (spec 1). Undefined for any other.
 */
export function readAddress(address: string, baseUrlTemplate: string): Addressed | undefined {
  const account = parseAccountName(address, baseUrlTemplate);
  const url = URL.parse(address);
  if (account === undefined || url === null || url.username !== '' || url.password !== '') return undefined;
  const base = new BaseUrl(baseUrlTemplate).of(account);
  if (url.origin !== base.origin || !url.pathname.startsWith(`${base.path}/`)) return undefined;
  const [projects, project, servers, server] = url.pathname
    .slice(base.path.length + 1)
    .split('/')
    .map(decoded);
  if (projects !== 'projects' || !project) return undefined;
  const isServer = servers === 'servers' && server !== undefined && server !== '';
  return { account, project, ...(isServer ? { server } : {}) };
}

/** Empty for what does not decode: it names nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
