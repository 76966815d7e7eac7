import { describe, expect, it } from 'vitest';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { clientOf, startSetting } from './setting.ts';

const anna = { team: 'T0ACME', user: 'U0ANNA' };

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the route answers
async function ask({ origin }: LocalSlack, path: string, body?: object): Promise<any> {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return (await fetch(`${origin}/page/${path}`, init)).json();
}

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
  it('types commands and shows what went wrong', async () => {
    const { slack, app } = await startSetting();
    const typed = { ...anna, channel: 'C0DEPLOY', command: '/deckhand', text: 'help' };
    expect(await ask(slack, 'commands', typed)).toEqual({ ok: true });
    expect(app.received.at(-1)?.payload.text).toBe('help');
    app.reply(() => ({ status: 500 }));
    expect(await ask(slack, 'commands', typed)).toEqual({ ok: false, error: 'http_service_error' });
    const { messages } = await ask(slack, `messages?${query({ channel: 'C0DEPLOY' })}`);
    expect(messages).toMatchObject([
      { ephemeral: true, text: expect.stringContaining('http_service_error') },
    ]);
  });

  it('takes nothing in direct messages with an app that people only read', async () => {
    const { slack, token } = await startSetting({ app: { messagesTabReadOnly: true } });
    const { channel } = await clientOf(slack, token).conversations.open({ users: 'U0ANNA' });
    const refused = { ok: false, error: 'Sending messages to this app has been turned off.' };
    const said = { ...anna, channel: channel?.id, text: 'help' };
    expect(await ask(slack, 'messages', said)).toEqual(refused);
    expect(await ask(slack, 'commands', { ...said, command: '/deckhand' })).toEqual(refused);
    expect(await ask(slack, 'messages', { ...said, channel: 'C0DEPLOY' })).toEqual({ ok: true });
    expect(await ask(slack, 'workspace')).toMatchObject({ teams: [{ apps: [{ reads_only: true }] }] });
  });

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

  it('lets a browser keep what it loads, its icons and emoji for minutes', async () => {
    const { slack } = await startSetting({ pageDir: import.meta.dirname });
    const kept = async (path: string) => (await fetch(slack.origin + path)).headers.get('cache-control');
    expect(await kept('/assets/index-1.js')).toBe('public, max-age=31536000, immutable');
    expect(await kept('/icons.svg')).toBe('public, max-age=600');
    expect(await kept('/index.html')).toBe('no-cache');
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

  it('is told of its mistakes', async () => {
    const { slack } = await startSetting();
    expect(await ask(slack, 'messages?team=T0NONE')).toEqual({
      ok: false,
      error: 'there is no workspace T0NONE',
    });
    expect(await ask(slack, 'commands', {})).toMatchObject({ ok: false });
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

describe('the control interface', () => {
  async function control({ origin }: LocalSlack, path: string, ...args: unknown[]): Promise<unknown> {
    const response = await fetch(`${origin}/_control/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    return response.json();
  }

  it('does over HTTP what the in-process API does', async () => {
    const { slack, app } = await startSetting();
    await control(slack, 'addWorkspace', { id: 'T0NEW', users: [{ id: 'U1' }], channels: [{ name: 'a' }] });
    expect(await control(slack, 'as/T0NEW/U1/command', 'a', '/deckhand hi')).toMatchObject({ outcome: 'ok' });
    expect(app.received.at(-1)?.payload).toMatchObject({ team_id: 'T0NEW', text: 'hi' });
    await control(slack, 'as/T0NEW/U1/postMessage', 'a', 'hello');
    expect(await control(slack, 'messages', 'T0NEW', 'a')).toMatchObject([{ text: 'hello' }]);
    await control(slack, 'fault', { method: '*', status: 503, times: 1 });
    expect((await fetch(`${slack.apiUrl}api.test`)).status).toBe(503);
    expect(await control(slack, 'nothing')).toEqual({ ok: false, error: 'no_such_function' });
    expect(await control(slack, 'messages', 'T0NEW', 'nowhere')).toMatchObject({ ok: false });
  });
});
