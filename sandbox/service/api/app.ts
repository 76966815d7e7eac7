import { OpenAPIHono } from '@hono/zod-openapi';
import type { ErrorHandler } from 'hono';
import { authenticate } from './access.ts';
import type { AccountEnv, AccountMiddleware } from './env.ts';
import { ApiFailure, invalid, invalidJson, unknownMethod, usualBody } from './failure.ts';
import { fieldsOf } from './fields.ts';

export type AccountApp = OpenAPIHono<AccountEnv>;

/** An account's host: nothing passes without credentials, and every failure is JSON. */
export function createAccountApp(register: readonly ((app: AccountApp) => void)[]): AccountApp {
  const app: AccountApp = new OpenAPIHono<AccountEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalid(fieldsOf(result.error));
    },
  });
  app.use(authenticate, refuseBrokenJson);
  for (const addTo of register) addTo(app);
  app.notFound(() => failureResponse(unknownMethod()));
  app.onError(answerFailure);
  return app;
}

/** Also where no body is needed: what is sent must be JSON. */
const refuseBrokenJson: AccountMiddleware = async (c, next) => {
  const body = await c.req.text();
  if (body !== '' && !isJson(body)) throw invalidJson();
  await next();
};

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Failures thrown on purpose are written as they are; anything else is a 500. */
export const answerFailure: ErrorHandler = (error) => {
  if (error instanceof ApiFailure) return failureResponse(error);
  process.stderr.write(`${error.stack ?? error.message}\n`);
  return failureResponse(new ApiFailure(500, usualBody(500), {}));
};

export function failureResponse({ status, body, headers }: ApiFailure): Response {
  return Response.json(body, { status, headers });
}
