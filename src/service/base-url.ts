const PLACE = '{account}';
/** Stands in for an account while a template is taken apart; a URL cannot hold the braces everywhere. */
const MARKER = 'account-goes-here';

/** Only these characters, so that nothing is decoded, mapped or case-folded into another host. */
const ADDRESS = /^(?:https?:\/\/)?([a-z0-9.-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?((?:[/?#][^\\\s]*)?)$/i;

/** `<account>.<service domain>` (spec 1), never a bare domain or an IP address. */
const HOST_OF_ITS_OWN = /^([a-z0-9-]+)\.(?:[a-z0-9-]+\.)+[a-z]{2,}$/i;

/** Where an account lives: a configured template with `{account}` in its host or path (spec 1, {base_url}). */
export class BaseUrl {
  readonly #template: string;
  readonly #parts: URL;

  /** Throws a TypeError with the fault of an unsound template. */
  constructor(template: string) {
    const fault = findBaseUrlFault(template);
    if (fault !== undefined) throw new TypeError(`the service's base url ${fault}`);
    this.#template = template;
    this.#parts = new URL(template.replace(PLACE, MARKER));
  }

  /** The address of an account, without a slash at its end. The name must be a slug. */
  of(account: string): { origin: string; path: string } {
    const url = new URL(this.#template.replace(PLACE, account));
    return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
  }

  /** The text that stands where the account stands in an address of this shape, else undefined. */
  nameIn(address: string): string | undefined {
    const [, host = '', port, rest = ''] = ADDRESS.exec(address) ?? [];
    if (host === '' || !this.#isOurPort(port)) return undefined;
    if (this.#parts.hostname.includes(MARKER)) return between(this.#parts.hostname, host.toLowerCase());
    // A base url with the account in its path does not know the hosts that people see: a name in front of a domain counts.
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

/** What is wrong with a base url template, as the end of a sentence; undefined if nothing is. */
export function findBaseUrlFault(template: string): string | undefined {
  if (template.split(PLACE).length !== 2) return `must hold ${PLACE} exactly once`;
  const marked = template.replace(PLACE, MARKER);
  const fault = findAddressFault(marked);
  if (fault !== undefined) return fault;
  const { hostname, pathname } = new URL(marked);
  if (!hostname.includes(MARKER) && !pathname.includes(MARKER)) return `must hold ${PLACE} in host or path`;
  const lastLabel = hostname.split('.').at(-1) ?? '';
  // Otherwise the account would name the host, or its whole top-level domain.
  return lastLabel.includes(MARKER) ? `must have a domain of its own after ${PLACE}` : undefined;
}

/** What is wrong with an address that we would send secrets to, as the end of a sentence. */
export function findAddressFault(address: string): string | undefined {
  if (!URL.canParse(address)) return 'must be a url';
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.search !== '' || url.hash !== '') return 'must not hold a query or fragment';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:' || !isLoopback(url.hostname))
    return 'must be https, unless its host is loopback';
  return undefined;
}

/** True for hosts that never leave this machine. `localhost` names count as RFC 6761 has them. */
function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

export function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

/** What stands in `text` where the marker stands in `pattern`, if all the rest is the same. */
function between(pattern: string, text: string): string | undefined {
  const [before = '', after = ''] = pattern.split(MARKER);
  if (text.length <= before.length + after.length) return undefined;
  if (!text.startsWith(before) || !text.endsWith(after)) return undefined;
  return text.slice(before.length, text.length - after.length);
}
