/** A page in the browser that says how something ended. All of it is plain text, escaped here. */
export interface Page {
  title: string;
  text: string;
  sections?: ReadonlyArray<{ title: string; items: readonly string[] }>;
  /** What to do next. */
  next: string;
  /** Links to our own pages, to Slack, and to addresses of the configuration. */
  links?: ReadonlyArray<{ label: string; url: string }>;
  /** A button that posts the fields. */
  form?: { label: string; action: string; fields: Readonly<Record<string, string>> } | undefined;
}

/** The one style sheet; the content security policy allows it by its digest. */
export const PAGE_STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color:#1d1c1d;background:#fff}' +
  'h1{font-size:1.5rem}h2{font-size:1.1rem}a,button{display:inline-block;margin:0 .75rem .75rem 0;padding:.5rem 1rem;border-radius:.4rem;' +
  'font-weight:600;text-decoration:none;color:#fff;background:#1d3557}button{font:inherit;font-weight:600;border:0;cursor:pointer}a:focus-visible,button:focus-visible{outline:3px solid #e9a23b}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1a1d21}a,button{color:#10151c;background:#9cc2f0}}';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** One small page: no script, nothing loaded. */
export function pageOf({ title, text, sections = [], next, links = [], form }: Page): string {
  const body = sections.map(({ title, items }) => {
    const lines = items.map((item) => `<li>${html(item)}</li>`);
    return `<h2>${html(title)}</h2><ul>${lines.join('')}</ul>`;
  });
  const buttons = links.map(({ label, url }) => `<a href="${html(url)}">${html(label)}</a>`).join('');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title><style>${PAGE_STYLE}</style></head>
<body><main><h1>${html(title)}</h1><p>${html(text)}</p>${body.join('')}${buttons === '' ? '' : `<p>${buttons}</p>`}${formOf(form)}<p>${html(next)}</p></main></body>
</html>
`;
}

function formOf(form: Page['form']): string {
  if (form === undefined) return '';
  const fields = Object.entries(form.fields).map(
    ([name, value]) => `<input type="hidden" name="${html(name)}" value="${html(value)}">`,
  );
  return `<form method="post" action="${html(form.action)}">${fields.join('')}<button>${html(form.label)}</button></form>`;
}

/** Leads from the browser back into Slack. Organisations have no address of their own there. */
export function slackLink(workspace?: string): { label: string; url: string } {
  const isTeam = workspace !== undefined && /^T[A-Z0-9]+$/.test(workspace);
  return { label: 'Open Slack', url: isTeam ? `slack://open?team=${workspace}` : 'slack://open' };
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
