import type { ReactNode } from 'react';
import type { App } from '../api/types.ts';
import { useDirectory } from '../state/directory.ts';
import type { Place } from '../state/place.ts';

interface HomeTabsProps {
  app: App;
  atHome: boolean;
  onGo: (next: Partial<Place>) => void;
}

/** An app has two faces: its Home and the direct messages with it. */
export function HomeTabs({ app, atHome, onGo }: HomeTabsProps): ReactNode {
  const { team, me } = useDirectory();
  const dm = team.channels.find(({ kind, members }) => {
    return kind === 'im' && members.includes(me) && members.includes(app.bot_user);
  });
  return (
    <nav className="tabs" aria-label={`${app.name} pages`}>
      {app.has_home && (
        <button
          type="button"
          aria-current={atHome ? 'page' : undefined}
          onClick={() => onGo({ at: { kind: 'home', app: app.id } })}
        >
          Home
        </button>
      )}
      {dm && (
        <button
          type="button"
          aria-current={atHome ? undefined : 'page'}
          onClick={() => onGo({ at: { kind: 'channel', id: dm.id } })}
        >
          Messages
        </button>
      )}
    </nav>
  );
}
