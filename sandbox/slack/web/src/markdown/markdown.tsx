import type { ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Picture } from '../elements/image.tsx';
import { SafeLink } from '../mrkdwn/inline.tsx';

const components: Components = {
  a: ({ href, children }) => <SafeLink url={href ?? ''}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <Picture source={{ image_url: String(src ?? ''), alt_text: alt ?? 'image' }} className="image-block" />
  ),
  pre: ({ children }) => <pre className="pre">{children}</pre>,
  code: ({ children }) => <code className="code">{children}</code>,
  blockquote: ({ children }) => <blockquote className="quote">{children}</blockquote>,
  table: ({ children }) => (
    <div className="table-frame">
      <table className="table">{children}</table>
    </div>
  ),
  h1: ({ children }) => <h3 className="header">{children}</h3>,
  h2: ({ children }) => <h4 className="subheader">{children}</h4>,
  h3: ({ children }) => <h5 className="subheader">{children}</h5>,
  input: ({ checked }) => (
    <input type="checkbox" disabled checked={checked === true} aria-label={checked ? 'Done' : 'To do'} />
  ),
  hr: () => <hr className="divider" />,
};

const plugins = [remarkGfm];

/** The markdown block: standard markdown with tables and tasks. Raw HTML in it is shown as text. */
export function Markdown({ text }: { text: string }): ReactNode {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
