import type { ReactNode } from 'react';
import { Icon, IconButton } from '../ui/icon.tsx';
import type { IconName } from '../ui/icon-names.ts';

interface HeadProps {
  icon: IconName;
  title: string;
  note: string | undefined;
  live: boolean;
  onMenu: () => void;
}

/** The line above a conversation or Home; on a narrow screen it also opens the side bar. */
export function MainHead({ icon, title, note, live, onMenu }: HeadProps): ReactNode {
  return (
    <header className="main-head">
      <IconButton icon="menu" label="Open side bar" className="only-narrow" onClick={onMenu} />
      <Icon name={icon} />
      <h1>{title}</h1>
      {note && <span className="pane-note">{note}</span>}
      <span className="head-gap" />
      <span className={`connection${live ? ' live' : ''}`} role="status">
        {live ? (
          <span className="visually-hidden">Connected</span>
        ) : (
          <>
            <Icon name="wifi-off" />
            Reconnecting…
          </>
        )}
      </span>
    </header>
  );
}
