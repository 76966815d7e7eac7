import { type ReactNode, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { Payload } from './payload.tsx';

interface EntryProps {
  title: string;
  note: string;
  /** Milliseconds since the epoch. */
  at: number;
  ok: boolean;
  status: string;
  ms: number | null;
  /** The time in ms from which on the latency is marked. */
  slowFrom: number;
  error: string | undefined;
  payload: unknown;
}

/** One line of a log that unfolds to its payload. */
export function Entry({ title, note, at, ok, status, ms, slowFrom, error, payload }: EntryProps): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <li className="entry">
      <button type="button" className="entry-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <span className="entry-text">
          <span className="entry-title">{title}</span>
          <span className="entry-note">
            <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
            {note && ` · ${note}`}
          </span>
        </span>
        <span className={`status ${ok ? 'status-ok' : 'status-bad'}`}>{status}</span>
        <span className={`latency${ms !== null && ms >= slowFrom ? ' slow' : ''}`}>
          {ms === null ? '—' : `${Math.round(ms)} ms`}
        </span>
      </button>
      {error !== undefined && <p className="entry-error">{error}</p>}
      {open && <Payload value={payload} />}
    </li>
  );
}
