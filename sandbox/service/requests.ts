import { EventEmitter, on } from 'node:events';

/** One request as it came in, without its secrets. */
interface RecordedRequest {
  /** The service's time of arrival, ms since the epoch. */
  at: number;
  method: string;
  /** Without the account and without `.json`. */
  path: string;
  query: Record<string, string>;
  account: string | undefined;
  /** The user name of the Basic credentials, whether they were right or not. */
  user: string | undefined;
  userAgent: string | undefined;
  accept: string | undefined;
  contentType: string | undefined;
  body: unknown;
  /** Undefined until it is answered, and for good when the connection was dropped. */
  status: number | undefined;
  dropped: boolean;
}

type RequestPredicate = (request: RecordedRequest) => boolean;

export interface RequestLog {
  /** All requests since the start or the last `clear`, oldest first; the latest 10,000 are kept. */
  readonly all: readonly RecordedRequest[];
  /** The next request that has been dealt with and fits, from now on. */
  next(predicate?: RequestPredicate, signal?: AbortSignal): Promise<RecordedRequest>;
  /** The next request that arrives and fits, before it is answered. */
  nextArrival(predicate?: RequestPredicate, signal?: AbortSignal): Promise<RecordedRequest>;
  /** The first kept request that fits, else the next one. */
  seen(predicate: RequestPredicate, signal?: AbortSignal): Promise<RecordedRequest>;
  clear(): void;
}

export interface RequestRecorder extends RequestLog {
  arrived(request: Omit<RecordedRequest, 'status' | 'dropped'>): RecordedRequest;
  done(request: RecordedRequest, status: number | undefined): void;
}

const KEPT = 10_000;
const SECRET = /pass(word|wd)?$|secret|token|api_?key|auto_?deploy|^key$|^code(_verifier)?$|^state$/i;

/** Hides the values of keys that hold secrets, at any depth. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, inner]) => [key, hideIfSecret(key, inner)]));
}

function hideIfSecret(key: string, value: unknown): unknown {
  if (SECRET.test(key) && value !== null && typeof value !== 'object') return '[hidden]';
  return withoutSecrets(value);
}

export function createRequestLog(): RequestRecorder {
  const all: RecordedRequest[] = [];
  const events = new EventEmitter<{ arrived: [RecordedRequest]; done: [RecordedRequest] }>();
  // Every waiting test is one listener; there is no sensible number of them to warn at.
  events.setMaxListeners(0);

  async function waitFor(
    name: 'arrived' | 'done',
    predicate: RequestPredicate = () => true,
    signal?: AbortSignal,
  ): Promise<RecordedRequest> {
    const heard = on(events, name, signal === undefined ? {} : { signal });
    for await (const [request] of heard as AsyncIterable<[RecordedRequest]>) {
      if (predicate(request)) return request;
    }
    throw new Error('the request log was closed');
  }

  return {
    all,
    next: (predicate, signal) => waitFor('done', predicate, signal),
    nextArrival: (predicate, signal) => waitFor('arrived', predicate, signal),
    async seen(predicate, signal) {
      return all.find(isDoneAnd(predicate)) ?? (await waitFor('done', predicate, signal));
    },
    clear() {
      all.length = 0;
    },
    arrived(request) {
      const entry = { ...request, status: undefined, dropped: false };
      if (all.push(entry) > KEPT) all.shift();
      events.emit('arrived', entry);
      return entry;
    },
    done(request, status) {
      request.status = status;
      request.dropped = status === undefined;
      events.emit('done', request);
    },
  };
}

function isDoneAnd(predicate: RequestPredicate): RequestPredicate {
  return (request) => (request.status !== undefined || request.dropped) && predicate(request);
}
