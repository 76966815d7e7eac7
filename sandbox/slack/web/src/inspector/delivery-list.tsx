import type { ReactNode } from 'react';
import type { Delivery } from '../api/types.ts';
import { Entry } from './entry.tsx';

/** An ack is due within 3,000 ms; from a third of it on, it is worth a look. */
const SLOW_ACK_MS = 1000;

export function DeliveryList({ deliveries }: { deliveries: readonly Delivery[] }): ReactNode {
  if (deliveries.length === 0) return <p className="empty">Nothing was delivered yet. Send a command.</p>;
  return (
    <ul className="entries" aria-label="Deliveries">
      {deliveries.toReversed().map((delivery) => (
        <Entry
          key={delivery.id}
          title={titleOf(delivery)}
          note={delivery.attempt > 1 ? `${delivery.kind} · attempt ${delivery.attempt}` : delivery.kind}
          at={delivery.at}
          ok={isPending(delivery) ? undefined : delivery.status === 200 && delivery.error === undefined}
          status={statusOf(delivery)}
          ms={delivery.ack_ms}
          slowFrom={SLOW_ACK_MS}
          error={delivery.error}
          payload={delivery.payload}
        />
      ))}
    </ul>
  );
}

/** A command with what was typed after it; anything else by its name. */
function titleOf({ kind, name, payload }: Delivery): string {
  const { text } = (payload ?? {}) as { text?: unknown };
  return kind === 'command' && typeof text === 'string' ? `${name} ${text}`.trim() : name;
}

function isPending({ status, error }: Delivery): boolean {
  return status === null && error === undefined;
}

function statusOf(delivery: Delivery): string {
  if (isPending(delivery)) return 'waiting';
  return delivery.status === null ? 'no answer' : String(delivery.status);
}
