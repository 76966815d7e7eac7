import type { ReactNode } from 'react';
import type { Message } from '../api/types.ts';
import { authorOf } from '../message/author.ts';
import type { Inline } from '../mrkdwn/nodes.ts';
import { parseMrkdwn } from '../mrkdwn/parse-mrkdwn.ts';
import { useDirectory } from '../state/directory.ts';

const LONGEST = 200;

/** Reads a new message out to those who do not see it; edits are not read, or a running test would never be quiet. */
export function Announcer({ news }: { news: { channel: string; message: Message } | undefined }): ReactNode {
  const directory = useDirectory();
  return (
    <div className="visually-hidden" aria-live="polite" data-testid="announcer">
      {news && news.message.user !== directory.me && (
        <span key={news.message.ts}>
          New message from {authorOf(news.message, directory).name}: {plainText(news.message.text ?? '')}
        </span>
      )}
    </div>
  );
}

function plainText(text: string): string {
  const words = parseMrkdwn(text).map((block) =>
    block.type === 'pre' ? block.text : block.children.map(say).join(''),
  );
  return words.join(' ').slice(0, LONGEST);
}

function say(node: Inline): string {
  if (node.type === 'text' || node.type === 'code') return node.text;
  if (node.type === 'break') return ' ';
  return 'children' in node ? node.children.map(say).join('') : '';
}
