import type { Message } from '../api/types.ts';
import type { Directory } from '../state/directory.ts';

export interface Author {
  id: string;
  name: string;
  isApp: boolean;
}

/** Who a message is shown as being from. */
export function authorOf(message: Message, directory: Directory): Author {
  const app = (message.app_id && directory.app(message.app_id)) || directory.appOfBot(message.user ?? '');
  if (app) return { id: app.id, name: message.username ?? app.name, isApp: true };
  const user = directory.user(message.user ?? '');
  const id = message.user ?? message.bot_id ?? 'USLACKBOT';
  const isApp = message.bot_id !== undefined || user?.is_bot === true || user === undefined;
  return { id, name: message.username ?? user?.real_name ?? (id === 'USLACKBOT' ? 'Slackbot' : id), isApp };
}
