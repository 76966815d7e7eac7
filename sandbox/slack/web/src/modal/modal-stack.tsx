import type { ReactNode } from 'react';
import type { Client } from '../api/client.ts';
import type { View } from '../api/types.ts';
import { Modal } from './modal.tsx';

/** All open views are kept mounted, so that what was typed is still there when the upper one goes; one is shown. */
export function ModalStack({
  views,
  client,
  app,
}: {
  views: readonly View[];
  client: Client;
  app: string;
}): ReactNode {
  return views.map((view, index) => (
    <Modal
      key={view.id}
      view={view}
      client={client}
      app={app}
      isTop={index === views.length - 1}
      hasBelow={index > 0}
    />
  ));
}
