import { z } from 'zod';

/** How the service pages its long lists of projects, servers and hosted resources. Not in the specification. */
export const Paging = z.strictObject({
  /** Rows a page; undefined: lists are whole. */
  size: z.int().positive().optional(),
  /** Where an answer says that there is more: beside the rows, in `X-` headers, or in a `Link`. */
  style: z.enum(['body', 'headers', 'link']).default('body'),
});
export type Paging = z.output<typeof Paging>;
export type NewPaging = z.input<typeof Paging>;

const PAGED = /^\/(?:projects|hosted_resources|projects\/[^/]+\/servers)(?:\.json)?$/;

/** The page that was asked for of a list; any other answer as it is. */
export async function pageOf({ size, style }: Paging, request: Request, path: string, answer: Response) {
  if (size === undefined || request.method !== 'GET' || answer.status !== 200 || !PAGED.test(path))
    return answer;
  const rows: unknown = await answer.json();
  if (!Array.isArray(rows)) return Response.json(rows, answer);
  const url = new URL(request.url);
  const asked = Number(url.searchParams.get('page') ?? 1);
  const page = Number.isInteger(asked) && asked > 0 ? asked : 1;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const visible = rows.slice((page - 1) * size, page * size);
  if (style === 'body') {
    const counts = { current_page: page, total_pages: pages, total_records: rows.length };
    return Response.json({ records: visible, pagination: { ...counts, offset: (page - 1) * size } });
  }
  if (style === 'headers') {
    const headers = { 'X-Page': `${page}`, 'X-Total-Pages': `${pages}`, 'X-Total': `${rows.length}` };
    return Response.json(visible, { headers });
  }
  url.searchParams.set('page', String(page + 1));
  return Response.json(visible, page < pages ? { headers: { link: `<${url.href}>; rel="next"` } } : {});
}
