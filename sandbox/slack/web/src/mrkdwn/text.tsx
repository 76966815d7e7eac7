import type { TextObject } from '@slack/types';
import { type ReactNode, useMemo } from 'react';
import { Emoji, TextWithEmoji } from '../emoji/emoji.tsx';
import { indexed } from '../ui/indexed.ts';
import { InlineText } from './inline.tsx';
import type { TextBlock } from './nodes.ts';
import { parseMrkdwn } from './parse-mrkdwn.ts';

/** mrkdwn as blocks of text: paragraphs, quotes and preformatted parts. */
export function Mrkdwn({ text, verbatim = false }: { text: string; verbatim?: boolean }): ReactNode {
  const blocks = useMemo(() => parseMrkdwn(text, verbatim), [text, verbatim]);
  return indexed(blocks).map(([key, block]) => <TextBlockView key={key} block={block} />);
}

function TextBlockView({ block }: { block: TextBlock }): ReactNode {
  if (block.type === 'pre') return <pre className="pre">{block.text}</pre>;
  const content = <InlineText nodes={block.children} />;
  if (block.type === 'paragraph') return <div dir="auto">{content}</div>;
  return (
    <blockquote className="quote" dir="auto">
      {content}
    </blockquote>
  );
}

/** A text object of Block Kit, whichever of its two kinds it is. */
export function Text({ text }: { text: TextObject }): ReactNode {
  if (text.type !== 'mrkdwn') return <PlainText text={text} />;
  return <Mrkdwn text={text.text} verbatim={text.verbatim === true} />;
}

/** plain_text: nothing is parsed but `:emoji:`, and that only where `emoji` is not false. */
export function PlainText({ text }: { text: { text: string; emoji?: boolean } }): ReactNode {
  if (text.emoji === false) return <bdi className="plain">{text.text}</bdi>;
  const parts = text.text.split(/(:[a-z0-9_+'-]{1,60}:)/);
  return (
    <bdi className="plain">
      {indexed(parts).map(([key, part]) => {
        // split() with a group gives text and name in turn.
        return Number(key) % 2 === 1 ? (
          <Emoji key={key} name={part.slice(1, -1)} />
        ) : (
          <TextWithEmoji key={key} text={part} />
        );
      })}
    </bdi>
  );
}
