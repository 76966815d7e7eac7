import type { ReactNode } from 'react';
import type { Team } from '../api/types.ts';
import type { Theme } from '../state/theme.ts';
import { Initials } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';

interface RailProps {
  teams: readonly Team[];
  current: string;
  theme: Theme;
  inspecting: boolean;
  onTeam: (id: string) => void;
  onTheme: () => void;
  onInspector: () => void;
}

const themeIcons = { system: 'monitor', light: 'sun', dark: 'moon' } as const;

/** The outer edge: workspaces above, the page's own switches below. */
export function Rail({
  teams,
  current,
  theme,
  inspecting,
  onTeam,
  onTheme,
  onInspector,
}: RailProps): ReactNode {
  return (
    <nav className="rail" aria-label="Workspaces">
      {teams.map((team, index) => (
        <button
          key={team.id}
          type="button"
          className={`workspace tint-${index % 8}`}
          aria-label={team.name}
          aria-current={team.id === current ? 'true' : undefined}
          title={team.name}
          onClick={() => onTeam(team.id)}
        >
          <Initials name={team.name} />
        </button>
      ))}
      <span className="rail-gap" />
      <button
        type="button"
        className="rail-button"
        aria-label={`Theme: ${theme}`}
        title={`Theme: ${theme}`}
        onClick={onTheme}
      >
        <Icon name={themeIcons[theme]} />
        <span>Theme</span>
      </button>
      <button
        type="button"
        className="rail-button"
        aria-pressed={inspecting}
        title="What goes over the wire, and faults to switch on"
        onClick={onInspector}
      >
        <Icon name="activity" />
        <span>Inspector</span>
      </button>
    </nav>
  );
}
