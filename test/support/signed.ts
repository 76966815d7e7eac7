import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

/** Where a request is sent to. */
type Receiver = Pick<TestWorld, 'slack' | 'origin'>;

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
  { slack, origin }: Receiver,
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
export function sendPayload(world: Receiver, payload: object): Promise<Answer> {
  return sendSigned(world, new URLSearchParams({ payload: JSON.stringify(payload) }).toString());
}

export function sendJson(world: Receiver, body: object): Promise<Answer> {
  return sendSigned(world, JSON.stringify(body), { type: 'application/json' });
}

/** Tells one request from another. */
let serial = 0;

/** The admin's command in the channel; `more` in place of any of its fields. */
export function sendCommand(world: Receiver, text: string, more: Record<string, string> = {}) {
  serial += 1;
  const who = { team_id: TEAM, user_id: PEOPLE.admin, channel_id: CHANNEL };
  const fields = { command: '/deckhand', text, ...who, trigger_id: `command-${serial}`, ...more };
  return sendSigned(world, new URLSearchParams(fields).toString());
}

/** The admin's click on a button; `more` in place of any part of its payload. */
export function sendClick(world: Receiver, action_id: string, value: unknown = {}, more: object = {}) {
  serial += 1;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const button = { type: 'button', action_id, block_id: 'b', value: text, action_ts: '1' };
  const who = { team: { id: TEAM }, user: { id: PEOPLE.admin }, channel: { id: CHANNEL } };
  const click = { type: 'block_actions', ...who, trigger_id: `click-${serial}`, actions: [button] };
  return sendPayload(world, { ...click, ...more });
}

/** The admin's form with this view; `more` in place of any part of its payload. */
export function sendForm(world: Receiver, callback_id: string, view: object = {}, more: object = {}) {
  serial += 1;
  const empty = { type: 'modal', hash: 'h', blocks: [], state: { values: {} } };
  const who = { team: { id: TEAM }, user: { id: PEOPLE.admin }, trigger_id: `form-${serial}` };
  const form = { ...empty, id: `V${serial}`, callback_id, ...view };
  return sendPayload(world, { type: 'view_submission', ...who, view: form, ...more });
}

/** An event of the workspace; `more` in place of any part of its envelope. */
export function sendEvent(world: Receiver, event: object, more: object = {}): Promise<Answer> {
  serial += 1;
  const envelope = { type: 'event_callback', event_id: `Ev0SENT${serial}`, event_time: 1, team_id: TEAM };
  return sendJson(world, { ...envelope, event, ...more });
}
