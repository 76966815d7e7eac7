import { type ReactNode, useId, useState } from 'react';
import type { Call, Control, Delivery, Message } from '../api/types.ts';
import { IconButton } from '../ui/icon.tsx';
import { CallList } from './call-list.tsx';
import { ControlList } from './control-list.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { Payload } from './payload.tsx';
import { Tabs } from './tabs.tsx';

type InspectorTab = 'message' | 'deliveries' | 'calls' | 'controls';

interface InspectorProps {
  message: Message | undefined;
  deliveries: readonly Delivery[];
  calls: readonly Call[];
  controls: readonly Control[];
  onClose: () => void;
}

const titles: Readonly<Record<InspectorTab, string>> = {
  message: 'Message',
  deliveries: 'Deliveries',
  calls: 'API calls',
  controls: 'Faults',
};

/** What goes on behind the page: raw payloads, what the app was sent, what it called, and faults to switch. */
export function Inspector({ message, deliveries, calls, controls, onClose }: InspectorProps): ReactNode {
  const id = useId();
  const [picked, setPicked] = useState<InspectorTab>('deliveries');
  const [shown, setShown] = useState<string>();
  if (message !== undefined && message.ts !== shown) {
    setShown(message.ts);
    setPicked('message');
  }
  const tabs = (Object.keys(titles) as InspectorTab[]).filter(
    (tab) => tab !== 'controls' || controls.length > 0,
  );
  const tab = tabs.includes(picked) ? picked : 'deliveries';
  return (
    <aside className="pane inspector" aria-label="Inspector">
      <header className="pane-head">
        <h2>Inspector</h2>
        <IconButton icon="x" label="Close inspector" onClick={onClose} />
      </header>
      <Tabs id={id} tabs={tabs.map((key) => ({ key, title: titles[key] }))} picked={tab} onPick={setPicked} />
      <div
        className="inspector-body"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${tab}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {tab === 'message' && <MessagePayload message={message} />}
        {tab === 'deliveries' && <DeliveryList deliveries={deliveries} />}
        {tab === 'calls' && <CallList calls={calls} />}
        {tab === 'controls' && <ControlList controls={controls} />}
      </div>
    </aside>
  );
}

function MessagePayload({ message }: { message: Message | undefined }): ReactNode {
  if (message === undefined) return <p className="empty">Choose “Inspect message” on any message.</p>;
  return <Payload value={message} />;
}
