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

/** How long a browser keeps a file of the page: it asks for an icon or emoji with each element that shows one. */
export function cacheControl(path: string): string {
  // Their names change with their contents.
  if (path.startsWith('/assets/')) return 'public, max-age=31536000, immutable';
  return path.endsWith('.svg') ? 'public, max-age=600' : 'no-cache';
}

/** Serves the built page. */
export function createPageFiles(dir: string): Hono {
  const files = new Hono();
  files.use('*', async (context, next) => {
    await next();
    context.header('content-security-policy', PAGE_POLICY);
    context.header('x-content-type-options', 'nosniff');
    context.header('referrer-policy', 'no-referrer');
    context.header('cache-control', cacheControl(context.req.path));
  });
  files.get('*', serveStatic({ root: dir }));
  return files;
}
