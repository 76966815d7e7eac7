import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { TestWorld } from './test-world.ts';

export interface Answer {
  status: number;
  text: string;
}

/** The headers by which Slack signs a body. */
export function sign(signingSecret: string, body: string, offset = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) + offset);
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`);
  return {
    'content-type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac.digest('hex')}`,
  };
}

/** Sends a body as Slack would sign it, or nearly. */
export async function sendSigned(
  { slack, origin }: Pick<TestWorld, 'slack' | 'origin'>,
  body: string,
  options: { type?: string; offset?: number; signature?: string; path?: string } = {},
): Promise<Answer> {
  const { type = 'application/x-www-form-urlencoded', signature } = options;
  const answer = await request(`${origin}${options.path ?? '/slack/events'}`, {
    method: 'POST',
    body,
    headers: {
      ...sign(slack.app.signingSecret, body, options.offset),
      accept: 'application/json, text/event-stream',
      'content-type': type,
      ...(signature === undefined ? {} : { 'x-slack-signature': signature }),
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
