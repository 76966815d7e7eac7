import { type ReactNode, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { Payload } from './payload.tsx';

interface EntryProps {
  title: string;
  note: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Undefined while it is still going on. */
  ok: boolean | undefined;
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
        <span className={`status ${statusClass(ok)}`}>{status}</span>
        <span className={`latency${ms !== null && ms >= slowFrom ? ' slow' : ''}`}>
          {ms === null ? '—' : `${Math.round(ms)} ms`}
        </span>
      </button>
      {error !== undefined && <p className="entry-error">{error}</p>}
      {open && <Payload value={payload} />}
    </li>
  );
}

function statusClass(ok: boolean | undefined): string {
  if (ok === undefined) return 'status-open';
  return ok ? 'status-ok' : 'status-bad';
}
