import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';

/**
 * Keeps other sites' pages away from what only this machine's page and tests may do: a browser says where a request
 * comes from, and only a same-site script can send JSON without being asked first.
 */
export const ownSiteOnly: MiddlewareHandler = async (context, next) => {
  const site = context.req.header('sec-fetch-site') ?? 'same-origin';
  const isJson = context.req.header('content-type')?.startsWith('application/json') ?? false;
  if (site === 'cross-site' || (context.req.method === 'POST' && !isJson)) {
    return context.json({ ok: false, error: 'forbidden' }, 403);
  }
  context.header('cache-control', 'no-store');
  return next();
};

/** Wrong arguments are the caller's fault and told; anything else is ours. */
export function explainFault(error: unknown): Response {
  const isCallers =
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof SyntaxError ||
    error instanceof z.ZodError;
  const message = error instanceof Error ? error.message : String(error);
  return Response.json({ ok: false, error: message }, { status: isCallers ? 400 : 500 });
}
