import type { EventHandler } from '../commands/command.ts';
import type { DurableRequests } from './durable-requests.ts';
import { readMention } from './payloads/mention.ts';

/** Asks for a mention's words anew as a command, which waits for those of its channel alone and is tried again like them. */
export function mentionHandler(requests: () => Pick<DurableRequests, 'store'>): EventHandler {
  return async ({ workspace }, body) => {
    const request = readMention(body);
    if (request !== undefined) await requests().store(workspace, request, {});
  };
}
