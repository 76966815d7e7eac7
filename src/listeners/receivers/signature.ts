import { createHmac, timingSafeEqual } from 'node:crypto';

/** Requests further off than this, in either direction, are refused. In seconds. */
const WINDOW_S = 300;

export type SignatureFault = 'missing' | 'stale' | 'wrong' | 'replayed';

/**
 * Checks Slack's `v0` signature over the raw body, the timestamp five minutes both ways, and that the same
 * signature was not seen before.
 */
export function createVerifier(signingSecret: string, now: () => number) {
  const seen = createSeen(now);

  return function verify(
    headers: { timestamp: string | undefined; signature: string | undefined },
    body: Buffer,
  ): SignatureFault | undefined {
    const { timestamp, signature } = headers;
    if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return 'missing';
    if (Math.abs(now() / 1000 - Number(timestamp)) > WINDOW_S) return 'stale';
    const expected = createHmac('sha256', signingSecret)
      .update(`v0:${timestamp}:`)
      .update(body)
      .digest('hex');
    if (!isSame(`v0=${expected}`, signature)) return 'wrong';
    return seen(signature) ? 'replayed' : undefined;
  };
}

function isSame(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Two generations of signatures, each as long as a timestamp can stay valid: memory is bounded by the rate. */
function createSeen(now: () => number): (signature: string) => boolean {
  let young = new Set<string>();
  let old = new Set<string>();
  let turnAt = now() + 2 * WINDOW_S * 1000;
  return (signature) => {
    if (now() >= turnAt) {
      old = young;
      young = new Set();
      turnAt = now() + 2 * WINDOW_S * 1000;
    }
    if (young.has(signature) || old.has(signature)) return true;
    young.add(signature);
    return false;
  };
}
