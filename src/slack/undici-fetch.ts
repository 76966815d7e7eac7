import { type Dispatcher, request } from 'undici';

/** Statuses whose `Response` must have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * As much of `fetch` as WebClient needs, for a third of its price: a form is posted, its answer read as a whole.
 * Follows no redirect; a status is passed on, whatever it is.
 */
export function createSlimFetch(dispatcher: Dispatcher): typeof fetch {
  return async (url, init) => {
    const { body, signal } = init ?? {};
    if (typeof body !== 'string') throw new TypeError('only forms are sent');
    const answer = await request(String(url), {
      method: 'POST',
      // An encoded body would have to be decoded.
      headers: { ...(init?.headers as Record<string, string>), 'accept-encoding': 'identity' },
      body,
      dispatcher,
      ...(signal ? { signal } : {}),
    });
    const text = await answer.body.text();
    const status = answer.statusCode;
    return new Response(BODILESS.has(status) ? null : text, { status, headers: headersOf(answer) });
  };
}

function headersOf({ headers }: Dispatcher.ResponseData): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
}
