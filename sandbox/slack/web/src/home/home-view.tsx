import { type ReactNode, useCallback, useMemo } from 'react';
import type { Client } from '../api/client.ts';
import type { Container, Values, View } from '../api/types.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { collectValues } from '../elements/collect-values.ts';
import { SurfaceContext } from '../state/surface.ts';
import { useSurfaceState } from '../state/use-surface-state.ts';
import { Icon } from '../ui/icon.tsx';

interface HomeProps {
  app: string;
  view: View | null | undefined;
  client: Client;
  onError: (error: string) => void;
}

/** What the app published for this person. */
export function HomeView({ app, view, client, onError }: HomeProps): ReactNode {
  return (
    <section className="home" aria-label={`${app} Home`}>
      {view ? (
        <PublishedHome view={view} client={client} onError={onError} />
      ) : (
        <EmptyHome app={app} loading={view === undefined} />
      )}
    </section>
  );
}

function PublishedHome({
  view,
  client,
  onError,
}: {
  view: View;
  client: Client;
  onError: (error: string) => void;
}): ReactNode {
  const container = useMemo<Container>(() => ({ type: 'view', view_id: view.id }), [view.id]);
  const collect = useCallback((changed: Values) => collectValues(view.blocks, changed), [view.blocks]);
  const { surface } = useSurfaceState({
    client,
    container,
    held: view.state?.values,
    collect,
    onError,
  });
  return (
    <SurfaceContext value={surface}>
      <div className="home-page">
        <Blocks blocks={view.blocks} />
      </div>
    </SurfaceContext>
  );
}

function EmptyHome({ app, loading }: { app: string; loading: boolean }): ReactNode {
  return (
    <p className="empty" role="status">
      <Icon name={loading ? 'loader-circle' : 'house'} className={loading ? 'spin' : ''} />
      {loading ? 'Loading…' : `${app} has not published anything here yet.`}
    </p>
  );
}
