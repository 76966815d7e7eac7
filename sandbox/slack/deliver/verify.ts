import type { Delivery } from '../state/delivery.ts';
import { secretHex } from '../state/ids.ts';
import type { World } from '../world.ts';
import { deliver } from './delivery.ts';

/** What Slack does when a request URL is saved: the app has to give a challenge back. */
export async function verifyRequestUrl(world: World): Promise<boolean> {
  const challenge = secretHex(20);
  const { outcome, body } = await deliver(world, {
    kind: 'url_verification',
    name: 'url_verification',
    team: '',
    payload: { token: world.app.verificationToken, challenge, type: 'url_verification' },
    as: 'json',
  });
  return outcome === 'ok' && body.includes(challenge);
}

/** What Slack sends to look at a request URL's certificate: without a signature, and with no question in it. */
export function checkCertificate(world: World): Promise<Delivery> {
  return deliver(world, {
    kind: 'ssl_check',
    name: 'ssl_check',
    team: '',
    payload: { ssl_check: '1', token: world.app.verificationToken },
    as: 'form',
    unsigned: true,
  });
}

export interface RedeliverOptions {
  /** What stands in `X-Slack-Retry-Num`, one more than before by default; false: no such header. */
  retryNum?: number | false;
  /** What stands in `X-Slack-Retry-Reason`. */
  reason?: string;
}

/** Delivers once more what was delivered before, as Slack does whose answer was lost on the way. */
export function redeliver(
  world: World,
  earlier: Delivery,
  { retryNum = earlier.attempt, reason = 'http_timeout' }: RedeliverOptions = {},
): Promise<Delivery> {
  const { kind, name, team, user, payload } = earlier;
  return deliver(world, {
    kind,
    name,
    team,
    ...(user ? { user } : {}),
    payload,
    as: waysOf[kind] ?? 'payload',
    notBefore: earlier.at + 1_000,
    ...(retryNum === false ? {} : { attempt: retryNum + 1, retryReason: reason }),
  });
}

const waysOf: Partial<Record<Delivery['kind'], 'form' | 'json'>> = {
  command: 'form',
  ssl_check: 'form',
  event: 'json',
  url_verification: 'json',
};
