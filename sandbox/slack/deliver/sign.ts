import { createHmac } from 'node:crypto';

/** Slack's v0 signature over version, timestamp and the body exactly as sent. */
export function signatureHeaders(secret: string, body: string, wallMs: number): Record<string, string> {
  const timestamp = String(Math.floor(wallMs / 1000));
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${digest}` };
}
