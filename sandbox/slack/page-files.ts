import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';

/**
 * The page runs its own script alone, loads nothing from elsewhere, and has no way to turn text into markup. Pictures
 * of other sites are named and linked, never loaded. The frame is for files of the workspace.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const KEPT = 'public, max-age=31536000, immutable';

/** Serves the built page. */
export function createPageFiles(dir: string): Hono {
  const files = new Hono();
  files.use('*', async (context, next) => {
    await next();
    context.header('content-security-policy', PAGE_POLICY);
    context.header('x-content-type-options', 'nosniff');
    context.header('referrer-policy', 'no-referrer');
    // Their names change with their contents.
    if (context.req.path.startsWith('/assets/')) context.header('cache-control', KEPT);
  });
  files.get('*', serveStatic({ root: dir }));
  return files;
}
