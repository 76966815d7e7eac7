import { type ReactNode, useState } from 'react';
import type { Team } from '../api/types.ts';
import type { Place } from '../state/place.ts';
import type { State } from '../state/state.ts';
import { useTheme } from '../state/theme.ts';
import { Rail } from './rail.tsx';
import { Sidebar } from './sidebar.tsx';
import type { InspectorModel } from './use-inspector.ts';

interface EdgeProps {
  state: State;
  place: Place;
  inspector: InspectorModel;
  /** Whether it lies open over a narrow screen; a wide one always shows it. */
  open: boolean;
  onClose: () => void;
  onGo: (next: Partial<Place>) => void;
}

/** Workspaces and conversations. */
export function Edge({ state, place, inspector, open, onClose, onGo }: EdgeProps): ReactNode {
  const [theme, turnTheme] = useTheme();
  const leave = (next: Partial<Place>): void => {
    onClose();
    onGo(next);
  };
  return (
    <>
      <div className="edge">
        <Rail
          teams={state.teams}
          current={place.team}
          theme={theme}
          inspecting={inspector.open}
          onTeam={(id) => leave(firstOf(state.teams, id))}
          onTheme={turnTheme}
          onInspector={() => {
            onClose();
            inspector.toggle();
          }}
        />
        <Sidebar place={place} unread={state.unread} onGo={leave} />
      </div>
      {open && <button type="button" className="scrim" aria-label="Close side bar" onClick={onClose} />}
    </>
  );
}

/** Whether the side bar lies open, and how to change that. */
export function useEdge(): { open: boolean; show: () => void; hide: () => void } {
  const [open, setOpen] = useState(false);
  return { open, show: () => setOpen(true), hide: () => setOpen(false) };
}

/** Another workspace is entered as its first person, in its first channel. */
function firstOf(teams: readonly Team[], id: string): Partial<Place> {
  const team = teams.find((one) => one.id === id);
  const user = team?.users.find(({ is_bot }) => !is_bot);
  const channel = team?.channels.find(({ members }) => user && members.includes(user.id));
  return {
    team: id,
    ...(user && { user: user.id }),
    ...(channel && { at: { kind: 'channel', id: channel.id } }),
  };
}
