import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** A call that takes longer is one that a test holds back: it is waited for no more. */
const HELD_MS = 500;
/** Between two calls of one piece of work lie a few turns of the event loop. */
const QUIET_TURNS = 3;

/** When each HTTP call of this process began, by what Node or undici knows it by. */
const began = new Map<unknown, number>();

const begin = ({ request }: { request?: unknown }): void => void began.set(request, performance.now());
const end = ({ request }: { request?: unknown }): void => void began.delete(request);

for (const name of ['undici:request:create', 'http.client.request.start']) on(name, begin);
for (const name of ['undici:request:trailers', 'undici:request:error']) on(name, end);
for (const name of ['http.client.response.finish', 'http.client.request.error']) on(name, end);
on('http.server.request.start', (message: { request: IncomingMessage; response: ServerResponse }) => {
  begin(message);
  message.response.once('close', () => end(message));
});

function on<Message>(channel: string, listener: (message: Message) => void): void {
  subscribe(channel, (message) => listener(message as Message));
}

/** Resolves once no HTTP call is under way in this process, nor one that an answer led to. */
export async function callsToEnd(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
    await nextTurn();
    while (isAnyUnderWay()) {
      turns = 0;
      await delay(1);
    }
  }
}

function isAnyUnderWay(): boolean {
  const held = performance.now() - HELD_MS;
  return [...began.values()].some((since) => since > held);
}
