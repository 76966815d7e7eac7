/** A page in the browser that says how something ended. All of it is plain text, escaped here. */
export interface Page {
  title: string;
  text: string;
  /** What to do next. */
  next: string;
  /** Links to addresses of the configuration. */
  links?: ReadonlyArray<{ label: string; url: string }>;
}

/** The one style sheet; the content security policy allows it by its digest. */
export const PAGE_STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color:#1d1c1d;background:#fff}' +
  'h1{font-size:1.5rem}a{display:inline-block;margin:0 .75rem .75rem 0;padding:.5rem 1rem;border-radius:.4rem;' +
  'font-weight:600;text-decoration:none;color:#fff;background:#1d3557}a:focus-visible{outline:3px solid #e9a23b}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1a1d21}}';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** One small page: no script, nothing loaded. */
export function pageOf({ title, text, next, links = [] }: Page): string {
  const buttons = links.map(({ label, url }) => `<a href="${html(url)}">${html(label)}</a>`).join('');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title><style>${PAGE_STYLE}</style></head>
<body><main><h1>${html(title)}</h1><p>${html(text)}</p>${buttons === '' ? '' : `<p>${buttons}</p>`}<p>${html(next)}</p></main></body>
</html>
`;
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
