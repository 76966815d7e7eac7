import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';

const POLICY = [
  "default-src 'self'",
  "img-src 'self' data: https:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the built page. */
export function createPageFiles(dir: string): Hono {
  const files = new Hono();
  files.use('*', async (context, next) => {
    await next();
    context.header('content-security-policy', POLICY);
    context.header('x-content-type-options', 'nosniff');
    context.header('referrer-policy', 'no-referrer');
  });
  files.get('*', serveStatic({ root: dir }));
  return files;
}
