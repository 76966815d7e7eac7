import type { ReactNode } from 'react';
import type { Message } from '../api/types.ts';
import { useDirectory } from '../state/directory.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { type Author, authorOf } from './author.ts';
import { clockTime } from './time.ts';

const FACES = 4;

/** The line under a message that leads into its thread. What only the person sees there does not count. */
export function ThreadSummary({
  replies: all,
  onOpen,
}: {
  replies: readonly Message[];
  onOpen: () => void;
}): ReactNode {
  const directory = useDirectory();
  const replies = all.filter(({ ephemeral }) => ephemeral !== true);
  const last = replies.at(-1);
  if (last === undefined) return null;
  const authors = new Map<string, Author>(
    replies.map((reply) => authorOf(reply, directory)).map((author) => [author.id, author]),
  );
  return (
    <button type="button" className="thread-summary" onClick={onOpen}>
      {[...authors.values()].slice(0, FACES).map((author) => (
        <Avatar key={author.id} id={author.id} name={author.name} isApp={author.isApp} />
      ))}
      <span className="thread-count">{replies.length === 1 ? '1 reply' : `${replies.length} replies`}</span>
      <span className="thread-last">Last reply at {clockTime(last.ts)}</span>
      <Icon name="chevron-right" />
    </button>
  );
}
