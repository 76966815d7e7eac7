import type { ReactNode } from 'react';
import { useWorkspace } from '../state/use-workspace.ts';
import { ConfirmProvider } from '../ui/confirm.tsx';
import { Icon } from '../ui/icon.tsx';
import { Shell } from './shell.tsx';

export function App(): ReactNode {
  const model = useWorkspace();
  const team = model.state.teams.find(({ id }) => id === model.place?.team);
  if (team === undefined || model.place === undefined) return <Starting />;
  return (
    <ConfirmProvider>
      <Shell {...model} team={team} place={model.place} />
    </ConfirmProvider>
  );
}

function Starting(): ReactNode {
  return (
    <main className="starting">
      <p role="status">
        <Icon name="loader-circle" className="spin" />
        Opening the workspace…
      </p>
    </main>
  );
}
