import type { Method } from '../web-api/method.ts';
import { authMethods } from './auth.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

export const METHODS: ReadonlyMap<string, Method> = new Map(
  [...authMethods, ...chatMethods, ...conversationMethods, ...userMethods, ...viewMethods].map((method) => [
    method.name,
    method,
  ]),
);
