import type { ReactNode } from 'react';
import type { Message } from '../api/types.ts';
import { authorOf } from '../message/author.ts';
import { formatDate } from '../mrkdwn/date-token.ts';
import { nameMention } from '../mrkdwn/inline.tsx';
import type { Inline } from '../mrkdwn/nodes.ts';
import { parseMrkdwn } from '../mrkdwn/parse-mrkdwn.ts';
import { type Directory, useDirectory } from '../state/directory.ts';

const LONGEST = 200;

/** Reads a new message out to those who do not see it; edits are not read, or a running test would never be quiet. */
export function Announcer({ news }: { news: { channel: string; message: Message } | undefined }): ReactNode {
  const directory = useDirectory();
  return (
    <div className="visually-hidden" aria-live="polite" data-testid="announcer">
      {news && news.message.user !== directory.me && (
        <span key={news.message.ts}>
          New message from {authorOf(news.message, directory).name}:{' '}
          {plainText(news.message.text ?? '', directory)}
        </span>
      )}
    </div>
  );
}

function plainText(text: string, directory: Directory): string {
  const words = parseMrkdwn(text).map((block) =>
    block.type === 'pre' ? block.text : block.children.map((node) => say(node, directory)).join(''),
  );
  return words.join(' ').slice(0, LONGEST);
}

function say(node: Inline, directory: Directory): string {
  switch (node.type) {
    case 'text':
    case 'code':
      return node.text;
    case 'break':
      return ' ';
    case 'emoji':
      return '';
    case 'date':
      return formatDate(node.timestamp, node.format);
    case 'broadcast':
    case 'user':
    case 'channel':
    case 'usergroup':
    case 'team':
      return nameMention(node, directory);
    default:
      return node.children.map((child) => say(child, directory)).join('');
  }
}
