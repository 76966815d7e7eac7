import type { ReactNode } from 'react';
import { Icon, IconButton } from '../ui/icon.tsx';

/** What went wrong where there is no field to say it under. */
export function Toast({ text, onClose }: { text: string | undefined; onClose: () => void }): ReactNode {
  return (
    <div className="toasts" role="alert">
      {text !== undefined && (
        <div className="toast">
          <Icon name="circle-alert" />
          <span>{text.includes(' ') ? text : `The app could not take that (${text}).`}</span>
          <IconButton icon="x" label="Dismiss" onClick={onClose} />
        </div>
      )}
    </div>
  );
}
