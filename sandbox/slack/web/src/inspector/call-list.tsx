import type { ReactNode } from 'react';
import type { Call } from '../api/types.ts';
import { Entry } from './entry.tsx';

const SLOW_CALL_MS = 1000;

export function CallList({ calls }: { calls: readonly Call[] }): ReactNode {
  if (calls.length === 0) return <p className="empty">The app called no Web API method yet.</p>;
  return (
    <ul className="entries" aria-label="API calls">
      {calls.toReversed().map((call) => (
        <Entry
          key={call.id}
          title={call.method}
          note=""
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
