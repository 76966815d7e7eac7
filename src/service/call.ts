import type { Scope } from './classify.ts';
import { ServiceError } from './errors.ts';
import type { Answer } from './transport.ts';

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How often a call that failed in passing is sent again: 3 unless told. Pollers want 0. */
  retries?: number | undefined;
}

/** Makes a value of a good answer, or throws a ServiceError. */
export type Reader<T> = (answer: Answer, operation: string) => T;

export interface Call<T> {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH';
  /** Segments, encoded one by one; or an address, which must be on the same origin. */
  path: readonly string[] | URL;
  scope: Scope;
  query?: Record<string, string>;
  body?: unknown;
  pdf?: boolean;
  read: Reader<T>;
}

/** Something that calls can be sent to. Rejects with a ServiceError, or with the reason of the caller's signal. */
export interface Endpoint {
  send<T>(call: Call<T>, options?: CallOptions): Promise<T>;
}

/** Where an endpoint's paths begin; without a slash at the end. */
export interface Address {
  origin: string;
  path: string;
}

/** Spec 1.2: both JSON headers on every request; only a PDF is accepted as something else. */
export function headersOf(
  call: Call<unknown>,
  version: string,
  authorization?: string,
): Record<string, string> {
  return {
    accept: call.pdf ? 'application/pdf' : 'application/json',
    'content-type': 'application/json',
    // An encoded body could grow past the size limit only after it was received.
    'accept-encoding': 'identity',
    'user-agent': `deckhand/${version}`,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** Path and query of a call, encoded. Throws a ServiceError for a name or address that must not be asked for. */
export function pathOf(call: Call<unknown>, address: Address): string {
  if (call.path instanceof URL) return ownPath(call.path, address, call.operation);
  const path = [address.path, ...call.path.map((segment) => encodeSegment(segment, call.operation))].join(
    '/',
  );
  const query = new URLSearchParams(call.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Where accounts differ by their path, another account's path is as foreign as another host. */
function ownPath(url: URL, { origin, path }: Address, operation: string): string {
  const isPlain = url.username === '' && url.password === '';
  const isOwn = isPlain && url.origin === origin && url.pathname.startsWith(`${path}/`);
  if (isOwn) return `${url.pathname}${url.search}`;
  const detail = "an address that is not on the account's own host";
  throw new ServiceError('unexpected', operation, {
    detail,
    fault: 'foreign_address',
    certainlyNotDone: true,
  });
}

/** A segment names one record. What a server could take for another path names none. */
function encodeSegment(segment: string, operation: string): string {
  const isName = segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 255;
  if (isName && segment.isWellFormed()) return encodeURIComponent(segment);
  throw new ServiceError('record_not_found', operation, { detail: 'not a name', certainlyNotDone: true });
}
