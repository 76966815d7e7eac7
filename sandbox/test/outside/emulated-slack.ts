import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { install, startTheirs } from '../slack/second-opinion-servers.ts';

/** What one call of Deckhand was answered. */
export interface Call {
  method: string;
  ok: boolean;
  error: string | undefined;
  answer: Record<string, unknown>;
}

export type EmulatedSlack = Awaited<ReturnType<typeof startEmulatedSlack>>;

const AnswerSchema = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

/** The emulator's Slack with Deckhand installed, and before it a server that keeps what is called. */
export async function startEmulatedSlack() {
  const theirs = await startTheirs();
  const calls: Call[] = [];
  const answers: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url?.startsWith('/answer')) {
      answers.push(body.toString());
      response.end('ok');
      return;
    }
    const method = (request.url ?? '').replace(/^\/api\//, '');
    const { authorization = '', 'content-type': type = 'application/x-www-form-urlencoded' } =
      request.headers;
    const headers = { authorization, 'content-type': type };
    const init = { method: request.method ?? 'POST', headers, ...(body.length === 0 ? {} : { body }) };
    const answered = await fetch(theirs.apiUrl + method, init);
    const text = await answered.text();
    const answer = AnswerSchema.catch({ ok: false, error: text.slice(0, 100) }).parse(parsed(text));
    calls.push({ method, ok: answer.ok, error: answer.error, answer });
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const responseHost = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { token: botToken, team, client, channel } = await install(theirs);
  const { members = [] } = await client.users.list({});
  const user = members.find(({ is_admin: isAdmin }) => isAdmin)?.id ?? '';
  const history = async () => (await client.conversations.history({ channel })).messages ?? [];
  return {
    apiUrl: `http://${responseHost}/api/`,
    /** `host:port` for answers to a `response_url`. */
    responseHost,
    botToken,
    team,
    user,
    channel,
    calls,
    /** Bodies that came to a `response_url`, as JSON text. */
    answers,
    trigger: () => theirs.trigger(user),
    texts: async () => (await history()).map(({ text = '' }) => text),
    thread: async () => {
      const ts = (await history()).find(({ text }) => text?.startsWith('Storefront: '))?.ts ?? '';
      const replies = await client.conversations.replies({ channel, ts });
      return (replies.messages ?? []).slice(1).map(({ text = '' }) => text);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await theirs.stop();
    },
  };
}

function parsed(text: string): unknown {
  return URL.canParse(text) || !text.startsWith('{') ? undefined : JSON.parse(text);
}
