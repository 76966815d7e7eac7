import { html, raw } from 'hono/html';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
  code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
  pre { overflow: auto; padding: 0.75rem; border: 1px solid #8884; border-radius: 0.5rem; }
  table { border-collapse: collapse; width: 100%; margin: 0 0 1rem; }
  th, td { text-align: left; vertical-align: top; padding: 0.375rem 0.5rem; border-bottom: 1px solid #8884; }
  button { font: inherit; padding: 0.5rem 1rem; border-radius: 0.5rem; border: 1px solid #8888; cursor: pointer; }
  button.primary { background: #1a6b4a; border-color: #1a6b4a; color: #fff; }
  select { font: inherit; padding: 0.5rem; }
  .note { color: #777; }
`;

/** A page of the simulated service: self-contained, nothing is loaded from elsewhere. */
export function page(title: string, body: ReturnType<typeof html>) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}
