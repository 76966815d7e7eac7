/** A wait longer than this is nonsense or hostile, and its date might not even be one. */
const LONGEST_WAIT_MS = 365 * 24 * 3_600_000;

const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(?:\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * When a request may be sent again, in milliseconds since the epoch, from a `Retry-After` header: seconds or
 * any of the three HTTP dates (RFC 9110). Never before `now`; undefined for anything else. Spec 7.1.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const at = SECONDS.test(text) ? now + Number(text) * 1000 : parseHttpDate(text);
  if (at === undefined || Number.isNaN(at)) return undefined;
  return Math.round(Math.min(Math.max(at, now), now + LONGEST_WAIT_MS));
}

function parseHttpDate(text: string): number | undefined {
  if (HTTP_DATE.test(text)) return Date.parse(text);
  // The oldest form names no zone and means GMT; `Date` would take it for local time.
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`);
  return undefined;
}
