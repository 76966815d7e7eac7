import type { Method } from '../web-api/method.ts';
import { aboutMethods } from './about.ts';
import { appMethods } from './apps.ts';
import { authMethods } from './auth.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import { presentDetailsMethod } from './entities.ts';
import { fileMethods } from './files.ts';
import { functionMethods } from './functions.ts';
import { oauthMethods } from './oauth.ts';
import { usergroupMethods } from './usergroups.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

const ALL = [
  ...aboutMethods,
  ...appMethods,
  ...authMethods,
  ...chatMethods,
  ...conversationMethods,
  presentDetailsMethod,
  ...fileMethods,
  ...functionMethods,
  ...oauthMethods,
  ...usergroupMethods,
  ...userMethods,
  ...viewMethods,
];

export const METHODS: ReadonlyMap<string, Method> = new Map(ALL.map((method) => [method.name, method]));
