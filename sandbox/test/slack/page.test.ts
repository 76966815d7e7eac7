import { expect, it } from 'vitest';
import { startSetting } from './setting.ts';

const anna = { team: 'T0ACME', user: 'U0ANNA' };

it('the page loads from itself alone, runs nothing but its own script, and makes no markup of text', async () => {
  const { slack } = await startSetting({ pageDir: import.meta.dirname });
  const policy = (await fetch(`${slack.origin}/setting.ts`)).headers.get('content-security-policy') ?? '';
  const rules = policy.split('; ');
  const sources = rules.filter((rule) => /^\S+-src /.test(rule)).map((rule) => rule.replace(/^\S+ /, ''));
  expect(new Set(sources)).toEqual(new Set(["'none'", "'self'"]));
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "trusted-types 'none'"])
    expect(rules).toContain(rule);
  expect(rules).toContain("require-trusted-types-for 'script'");
});

it('the page hears of what changes, and of nothing meant for others', async () => {
  const { slack, client } = await startSetting();
  const abort = new AbortController();
  const address = `${slack.origin}/page/stream?${new URLSearchParams(anna)}`;
  const { body } = await fetch(address, { signal: abort.signal });
  await client.chat.postEphemeral({ channel: 'C0DEPLOY', user: 'U0MAX', text: 'for max' });
  await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'for all' });
  let seen = '';
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += text;
    if (seen.includes('"message":{"type":"message"')) break;
  }
  abort.abort();
  expect(seen).toContain('for all');
  expect(seen).not.toContain('"ephemeral":true');
});

it.each([
  ['another site', { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' }],
  ['a plain form', { 'content-type': 'text/plain' }],
])('the page is not worked by %s', async (_what, headers) => {
  const { slack, app } = await startSetting();
  const body = JSON.stringify({ ...anna, channel: 'C0DEPLOY', command: '/deckhand', text: '' });
  const response = await fetch(`${slack.origin}/page/commands`, { method: 'POST', headers, body });
  expect(response.status).toBe(403);
  expect(app.received).toEqual([]);
});
