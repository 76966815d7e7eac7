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
          title={delivery.name}
          note={delivery.attempt > 1 ? `${delivery.kind} · attempt ${delivery.attempt}` : delivery.kind}
          at={delivery.at}
          ok={delivery.status === 200 && delivery.error === undefined}
          status={delivery.status === null ? 'no answer' : String(delivery.status)}
          ms={delivery.ack_ms}
          slowFrom={SLOW_ACK_MS}
          error={delivery.error}
          payload={delivery.payload}
        />
      ))}
    </ul>
  );
}
