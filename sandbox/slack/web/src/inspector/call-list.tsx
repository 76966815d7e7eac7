import type { ReactNode } from 'react';
import type { Call } from '../api/types.ts';
import { Entry } from './entry.tsx';

const SLOW_CALL_MS = 1000;
const LONGEST = 120;

export function CallList({ calls }: { calls: readonly Call[] }): ReactNode {
  if (calls.length === 0) return <p className="empty">The app called no Web API method yet.</p>;
  return (
    <ul className="entries" aria-label="API calls">
      {calls.toReversed().map((call) => (
        <Entry
          key={call.id}
          title={call.method}
          note={gist(call)}
          at={call.at}
          ok={call.ok}
          status={String(call.status)}
          ms={call.ms}
          slowFrom={SLOW_CALL_MS}
          error={call.error}
          payload={call.args ?? {}}
        />
      ))}
    </ul>
  );
}

/** What tells one call of a method from the next: its text, the form it shows, or whom it concerns. */
function gist({ args }: Call): string {
  const { text, view, channel, user } = (args ?? {}) as Record<string, unknown>;
  const form = (view as { callback_id?: unknown } | undefined)?.callback_id;
  const said = [text, form, channel, user].find((one) => typeof one === 'string' && one !== '');
  return typeof said === 'string' ? said.slice(0, LONGEST) : '';
}
