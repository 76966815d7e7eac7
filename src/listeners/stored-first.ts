import { isDurable, routeCommand } from '../commands/command-router.ts';
import type { StoredRequest } from './durable-requests.ts';
import type { Registry } from './registry.ts';

/** True where it changes something, so that it is stored before its ack. */
export function isStoredFirst(registry: Registry, request: StoredRequest): boolean {
  switch (request.kind) {
    case 'command':
      return isDurableText(registry, request.text);
    case 'shortcut':
      return registry.shortcut(request.callbackId)?.shortcut.durable === true;
    case 'action': {
      const action = registry.action(request.actionId)?.action;
      const line = action?.leadsTo?.(request.blockId ?? '');
      return action?.durable === true && (line === undefined || isDurableText(registry, line));
    }
  }
}

function isDurableText({ commands }: Registry, text: string): boolean {
  const matched = routeCommand(commands, text);
  return matched !== undefined && isDurable(matched);
}
