import { describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { clientOf, startSetting } from './setting.ts';

const anna = { team: 'T0ACME', user: 'U0ANNA' };

const query = (extra: object = {}) => new URLSearchParams({ ...anna, ...extra }).toString();

/** Reads the page's stream until `done` says it has seen enough. */
async function readStream(slack: LocalSlack, act: () => Promise<unknown>, done: (seen: string) => boolean) {
  const abort = new AbortController();
  const response = await fetch(`${slack.origin}/page/stream?${query()}`, { signal: abort.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  const acted = act();
  while (!done(seen)) seen += (await reader?.read())?.value ?? '';
  await acted;
  abort.abort();
  return seen;
}

describe('the page', () => {
  it('loads from itself alone, runs nothing but its own script, and makes no markup of text', async () => {
    const { slack } = await startSetting({ pageDir: import.meta.dirname });
    const policy = (await fetch(`${slack.origin}/setting.ts`)).headers.get('content-security-policy');
    const rules = new Map(
      (policy ?? '').split('; ').map((rule) => rule.split(/ (.*)/s, 2) as [string, string]),
    );
    const sources = [...rules].filter(([name]) => name.endsWith('-src')).map(([, source]) => source);
    expect(new Set(sources)).toEqual(new Set(["'none'", "'self'"]));
    expect(rules.get('default-src')).toBe("'none'");
    expect(rules.get('frame-ancestors')).toBe("'none'");
    expect(rules.get('require-trusted-types-for')).toBe("'script'");
    expect(rules.get('trusted-types')).toBe("'none'");
  });

  it('hears of what changes, and of nothing meant for others', async () => {
    const { slack, token } = await startSetting();
    const { chat } = clientOf(slack, token);
    const act = async () => {
      await chat.postEphemeral({ channel: 'C0DEPLOY', user: 'U0MAX', text: 'for max' });
      await chat.postMessage({ channel: 'C0DEPLOY', text: 'for all' });
    };
    const seen = await readStream(slack, act, (text) => text.includes('"message":{"type":"message"'));
    expect(seen).toContain('for all');
    expect(seen).not.toContain('"ephemeral":true');
  });

  it.each([
    ['another site', { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' }],
    ['a plain form', { 'content-type': 'text/plain' }],
  ])('is not worked by %s', async (_what, headers) => {
    const { slack, app } = await startSetting();
    const body = JSON.stringify({ ...anna, channel: 'C0DEPLOY', command: '/deckhand', text: '' });
    const response = await fetch(`${slack.origin}/page/commands`, { method: 'POST', headers, body });
    expect(response.status).toBe(403);
    expect(app.received).toEqual([]);
  });
});
