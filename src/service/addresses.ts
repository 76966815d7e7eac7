import { UserError } from '../core/errors.ts';
import { isThisMachine, trimSlashes } from '../core/http.ts';
import { code } from '../core/mrkdwn.ts';
import type { Pages } from '../core/service-pages.ts';

const PLACEHOLDER = '{account}';
/** Replaces the placeholder while a template is parsed: URLs allow no braces in a host. */
const MARKER = 'account-goes-here';

/** A DNS label in lower case. */
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Few characters, so that no parser decodes or maps them to another host. */
const ADDRESS = /^(?:https?:\/\/)?([a-z0-9.-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?((?:[/?#][^\\\s]*)?)$/i;

/** `<account>.<service domain>`, never a bare domain or an IP address. */
const HOST_OF_ITS_OWN = /^([a-z0-9-]+)\.(?:[a-z0-9-]+\.)+[a-z]{2,}$/i;

/** The configured address of accounts: a template with `{account}` in its host or path. */
export class BaseUrl {
  readonly #template: string;
  readonly #parts: URL;

  /** @throws TypeError with the fault of the template */
  constructor(template: string) {
    const fault = findBaseUrlFault(template);
    if (fault !== undefined) throw new TypeError(`the service's base url ${fault}`);
    this.#template = template;
    this.#parts = new URL(template.replace(PLACEHOLDER, MARKER));
  }

  /** Returns the address of an account, without a slash at the end. The name must be a slug. */
  of(account: string): { origin: string; path: string } {
    const url = new URL(this.#template.replace(PLACEHOLDER, account));
    return { origin: url.origin, path: trimSlashes(url.pathname) };
  }

  /** Finds the account's name in an address of this shape. */
  nameIn(address: string): string | undefined {
    const [, host = '', port, rest = ''] = ADDRESS.exec(address) ?? [];
    if (host === '' || !this.#isOurPort(port)) return undefined;
    if (this.#parts.hostname.includes(MARKER)) return between(this.#parts.hostname, host.toLowerCase());
    // A template with the account in its path does not tell which hosts people see. A name before a domain counts.
    if (host.toLowerCase() !== this.#parts.hostname)
      return port === undefined ? HOST_OF_ITS_OWN.exec(host)?.[1]?.toLowerCase() : undefined;
    const path = rest.split(/[?#]/, 1)[0] ?? '';
    const depth = this.#parts.pathname.split('/').findIndex((segment) => segment.includes(MARKER));
    const ours = this.#parts.pathname.split('/').slice(0, depth + 1);
    const theirs = path.split('/').slice(0, depth + 1);
    return between(ours.join('/'), theirs.join('/'))?.toLowerCase();
  }

  #isOurPort(port: string | undefined): boolean {
    if (port === undefined || port === this.#parts.port) return true;
    return this.#parts.port === '' && port === (this.#parts.protocol === 'https:' ? '443' : '80');
  }
}

/** The address at which people open an account. The name must be a slug. */
export function accountUrl(account: string, baseUrlTemplate: string): string {
  const { origin, path } = new BaseUrl(baseUrlTemplate).of(account);
  return `${origin}${path}`;
}

/** The project's page at the service. */
export function projectUrl(account: string, permalink: string, baseUrlTemplate: string): string {
  return `${accountUrl(account, baseUrlTemplate)}/projects/${encodeURIComponent(permalink)}`;
}

/** The addresses of projects and servers at the service. */
export function createPages(baseUrlTemplate: string): Pages {
  return {
    project: (account, permalink) => projectUrl(account, permalink, baseUrlTemplate),
    server: (account, permalink, identifier) =>
      `${projectUrl(account, permalink, baseUrlTemplate)}/servers/${encodeURIComponent(identifier)}`,
  };
}

/** True for an address on the host of the accounts, or of another name in their domain. */
export function isServiceUrl(url: string, baseUrlTemplate: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const host = new URL(baseUrlTemplate.replace(PLACEHOLDER, MARKER)).hostname;
  if (!host.includes(MARKER)) return hostname === host;
  const domain = host.slice(host.indexOf('.') + 1);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

/** True for a DNS label. It has no dots, so it is no host, and no `xn--`, so no client shows other letters. */
export function isAccountName(text: string): boolean {
  return SLUG.test(text) && !text.startsWith('xn--');
}

/**
 * Finds the account name in typed or pasted text: `acme`, `acme.example.com`, `https://acme.example.com/projects`, or an
 * address with the account in its path if `baseUrlTemplate` has it there. Returns undefined for anything else.
 */
export function parseAccountName(text: string, baseUrlTemplate: string): string | undefined {
  const address = text.trim();
  const isName = isAccountName(address.toLowerCase());
  const name = isName ? address.toLowerCase() : new BaseUrl(baseUrlTemplate).nameIn(address);
  return name !== undefined && isAccountName(name) ? name : undefined;
}

/** The project, and perhaps the server, in an address of the service. */
export interface Addressed {
  account: string;
  /** A permalink or identifier. */
  project: string;
  /** An identifier. */
  server?: string;
}

/**
 * Reads `{base_url}/projects/<permalink>[/servers/<id>…]` under exactly the host, port and path of the account. Returns
 * undefined for any other address.
 */
export function readAddress(address: string, baseUrlTemplate: string): Addressed | undefined {
  const account = parseAccountName(address, baseUrlTemplate);
  const url = URL.parse(address);
  if (account === undefined || url === null || url.username !== '' || url.password !== '') return undefined;
  const base = new BaseUrl(baseUrlTemplate).of(account);
  if (url.origin !== base.origin || !url.pathname.startsWith(`${base.path}/`)) return undefined;
  const segments = url.pathname.slice(base.path.length + 1).split('/');
  const [projects, project, servers, server] = segments.map(decodeSegment);
  if (projects !== 'projects' || !project) return undefined;
  return { account, project, ...(servers === 'servers' && server ? { server } : {}) };
}

/** Returns the fault of a base url template as the end of a sentence, or undefined. */
export function findBaseUrlFault(template: string): string | undefined {
  if (template.split(PLACEHOLDER).length !== 2) return `must hold ${PLACEHOLDER} exactly once`;
  const marked = template.replace(PLACEHOLDER, MARKER);
  const fault = findAddressFault(marked);
  if (fault !== undefined) return fault;
  const { hostname, pathname } = new URL(marked);
  if (!hostname.includes(MARKER) && !pathname.includes(MARKER))
    return `must hold ${PLACEHOLDER} in host or path`;
  // An account must not name the host or its top-level domain.
  const isTopLevel = hostname.split('.').at(-1)?.includes(MARKER);
  return isTopLevel ? `must have a domain of its own after ${PLACEHOLDER}` : undefined;
}

/** True if the address of accounts, a template, is on this machine. */
export function isLoopbackBaseUrl(template: string): boolean {
  const url = URL.parse(template.replace(PLACEHOLDER, MARKER));
  return url !== null && isThisMachine(url.hostname);
}

/** Returns the fault of an address that gets secrets as the end of a sentence, or undefined. */
export function findAddressFault(address: string): string | undefined {
  if (!URL.canParse(address)) return 'must be a url';
  const { protocol, hostname, username, password, search, hash } = new URL(address);
  if (username !== '' || password !== '') return 'must not hold a user name or password';
  if (search !== '' || hash !== '') return 'must not hold a query or fragment';
  if (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))) return undefined;
  return 'must be https, unless its host is loopback';
}

/** Returns the part of `text` at the marker's position in `pattern`, if the rest is the same. */
function between(pattern: string, text: string): string | undefined {
  const [before = '', after = ''] = pattern.split(MARKER);
  if (text.length <= before.length + after.length) return undefined;
  if (!text.startsWith(before) || !text.endsWith(after)) return undefined;
  return text.slice(before.length, text.length - after.length);
}

/** Returns an empty text if the segment cannot be decoded. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

/**
 * The project, and perhaps the server, of a pasted address; undefined for any other text. Slack adds `http` to an address
 * without a scheme.
 * @throws UserError for the address of a project at another service
 */
export function readProjectAddress(text: string, baseUrl: string): Addressed | undefined {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(\S+)$/i.exec(text.trim()) ?? [];
  if (!/\/projects\/[^/]/.test(rest)) return undefined;
  const address = scheme + rest;
  const link = readAddress(`${baseUrl.replace(/:.*/, '')}://${rest}`, baseUrl);
  if (link === undefined && scheme !== '')
    throw new UserError(`${code(address, 100)} is not the address of a project at this service.`, 'projects');
  return link;
}
