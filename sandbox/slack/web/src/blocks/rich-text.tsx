import type { RichTextBlock, RichTextBlockElement, RichTextList } from '@slack/types';
import type { ReactNode } from 'react';
import { fromRichText } from '../mrkdwn/from-rich-text.ts';
import { InlineText } from '../mrkdwn/inline.tsx';
import { indexed } from '../ui/indexed.ts';

export function RichText({ block }: { block: RichTextBlock }): ReactNode {
  return (
    <div className="rich-text">
      {indexed(block.elements).map(([key, element]) => (
        <RichTextPart key={key} element={element} />
      ))}
    </div>
  );
}

function RichTextPart({ element }: { element: RichTextBlockElement }): ReactNode {
  switch (element.type) {
    case 'rich_text_section':
      return (
        <div dir="auto">
          <InlineText nodes={fromRichText(element.elements)} />
        </div>
      );
    case 'rich_text_quote':
      return (
        <blockquote className="quote" dir="auto">
          <InlineText nodes={fromRichText(element.elements)} />
        </blockquote>
      );
    case 'rich_text_preformatted':
      return (
        <pre className="pre">
          <InlineText nodes={fromRichText(element.elements)} />
        </pre>
      );
    case 'rich_text_list':
      return <List list={element} />;
    default:
      return null;
  }
}

function List({ list }: { list: RichTextList }): ReactNode {
  const Tag = list.style === 'ordered' ? 'ol' : 'ul';
  const start = (list as { offset?: number }).offset;
  return (
    <Tag
      className={`list indent-${Math.min(list.indent ?? 0, 8)}`}
      {...(Tag === 'ol' && start && { start: start + 1 })}
    >
      {indexed(list.elements).map(([key, item]) => (
        <li key={key} dir="auto">
          <InlineText nodes={fromRichText(item.elements)} />
        </li>
      ))}
    </Tag>
  );
}
