import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { TestWorld } from './test-world.ts';

export interface Answer {
  status: number;
  text: string;
}

/** One request, signed once, that can be sent as often as one likes and to whichever replica. */
export function signedOnce(signingSecret: string, body: string) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`);
  const headers = {
    'content-type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac.digest('hex')}`,
  };
  return async (origin: string, more: Record<string, string> = {}): Promise<number> => {
    const options = { method: 'POST', body, headers: { ...headers, ...more } } as const;
    const answer = await request(`${origin}/slack/events`, options);
    await answer.body.dump();
    return answer.statusCode;
  };
}

/** Sends a body as Slack would sign it, or nearly. */
export async function sendSigned(
  { slack, origin }: Pick<TestWorld, 'slack' | 'origin'>,
  body: string,
  options: { type?: string; offset?: number; signature?: string; path?: string } = {},
): Promise<Answer> {
  const timestamp = String(Math.floor(Date.now() / 1000) + (options.offset ?? 0));
  const hmac = createHmac('sha256', slack.app.signingSecret).update(`v0:${timestamp}:${body}`);
  const answer = await request(`${origin}${options.path ?? '/slack/events'}`, {
    method: 'POST',
    body,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': options.type ?? 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': options.signature ?? `v0=${hmac.digest('hex')}`,
    },
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

/** A click or form, as Slack sends it. */
export function sendPayload(world: Pick<TestWorld, 'slack' | 'origin'>, payload: object): Promise<Answer> {
  return sendSigned(world, new URLSearchParams({ payload: JSON.stringify(payload) }).toString());
}

export function sendJson(world: Pick<TestWorld, 'slack' | 'origin'>, body: object): Promise<Answer> {
  return sendSigned(world, JSON.stringify(body), { type: 'application/json' });
}
