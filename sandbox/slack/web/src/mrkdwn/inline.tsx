import type { ReactNode } from 'react';
import { Emoji, TextWithEmoji } from '../emoji/emoji.tsx';
import { type Directory, useDirectory } from '../state/directory.ts';
import { indexed } from '../ui/indexed.ts';
import { safeUrl } from '../ui/safe-url.ts';
import { formatDate } from './date-token.ts';
import type { Inline } from './nodes.ts';

/** Draws parsed text. Foreign strings only ever become text nodes here. */
export function InlineText({ nodes }: { nodes: Inline[] }): ReactNode {
  return indexed(nodes).map(([key, node]) => <InlineNode key={key} node={node} />);
}

function InlineNode({ node }: { node: Inline }): ReactNode {
  switch (node.type) {
    case 'text':
      return <TextWithEmoji text={node.text} />;
    case 'emoji':
      return <Emoji name={node.name} />;
    case 'break':
      return <br />;
    case 'bold':
      return (
        <strong>
          <InlineText nodes={node.children} />
        </strong>
      );
    case 'italic':
      return (
        <em>
          <InlineText nodes={node.children} />
        </em>
      );
    case 'strike':
      return (
        <del>
          <InlineText nodes={node.children} />
        </del>
      );
    case 'code':
      return <code className="code">{node.text}</code>;
    case 'link':
      return (
        <SafeLink url={node.url}>
          <InlineText nodes={node.children} />
        </SafeLink>
      );
    case 'date':
      return <DateText node={node} />;
    default:
      return <Mention node={node} />;
  }
}

/** A link that may be followed, or its text where the address is none of ours to open. */
export function SafeLink({ url, children }: { url: string; children: ReactNode }): ReactNode {
  const href = safeUrl(url);
  if (href === undefined) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function DateText({ node }: { node: Extract<Inline, { type: 'date' }> }): ReactNode {
  const date = new Date(node.timestamp * 1000);
  if (Number.isNaN(date.getTime())) return node.fallback ?? '';
  const time = (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {formatDate(node.timestamp, node.format)}
    </time>
  );
  return node.url === undefined ? time : <SafeLink url={node.url}>{time}</SafeLink>;
}

type MentionNode = Extract<Inline, { type: 'user' | 'channel' | 'usergroup' | 'team' | 'broadcast' }>;

function Mention({ node }: { node: MentionNode }): ReactNode {
  const directory = useDirectory();
  const words = nameMention(node, directory);
  if (node.type === 'channel' && directory.channel(node.id) !== undefined)
    return (
      <button type="button" className="mention" onClick={() => directory.openChannel(node.id)}>
        {words}
      </button>
    );
  const isLoud = node.type === 'broadcast' || node.id === directory.me;
  return <span className={`mention${isLoud ? ' mention-loud' : ''}`}>{words}</span>;
}

/** "@Ann Admin", "#deploys", "@here" */
export function nameMention(node: MentionNode, directory: Directory): string {
  if (node.type === 'broadcast') return `@${node.range}`;
  if (node.type === 'channel') {
    const channel = directory.channel(node.id);
    return `#${channel === undefined ? (node.label ?? 'private channel') : directory.channelName(channel)}`;
  }
  const person = node.type === 'user' ? directory.user(node.id)?.real_name : undefined;
  const app = node.type === 'user' ? directory.appOfBot(node.id)?.name : undefined;
  return `@${person ?? app ?? node.label ?? node.id}`;
}
