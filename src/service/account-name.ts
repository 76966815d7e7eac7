import { BaseUrl } from './base-url.ts';

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * True for one DNS label in lower case, which is all an account name can be (spec 1 and 5.1). No dots, so
 * never a host or an address; no `xn--`, so nothing that is shown as other letters than it is.
 */
export function isAccountName(text: string): boolean {
  return SLUG.test(text) && !text.startsWith('xn--');
}

/**
 * The account name in what a person typed or pasted: `acme`, `acme.example.com`,
 * `https://acme.example.com/projects`, or an address with the account in its path where `baseUrlTemplate`
 * has it there. Undefined for anything else. The template must be sound (see `findBaseUrlFault`).
 */
export function parseAccountName(text: string, baseUrlTemplate: string): string | undefined {
  const typed = text.trim();
  const name = isAccountName(typed.toLowerCase())
    ? typed.toLowerCase()
    : new BaseUrl(baseUrlTemplate).nameIn(typed);
  return name !== undefined && isAccountName(name) ? name : undefined;
}
