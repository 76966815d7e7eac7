import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Team } from '../api/types.ts';
import { type Place, readPlace, writePlace } from './place.ts';

/** The address as a place; what it leaves out or gets wrong is filled with the first that there is. */
export function usePlace(teams: readonly Team[]): [Place | undefined, (next: Partial<Place>) => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const place = useMemo(() => complete(readPlace(hash), teams), [hash, teams]);
  const go = useCallback(
    (next: Partial<Place>) => {
      const whole = complete({ ...place, thread: undefined, ...next }, teams);
      if (whole !== undefined) location.hash = writePlace(whole);
    },
    [place, teams],
  );
  return [place, go];
}

function complete(wanted: Partial<Place>, teams: readonly Team[]): Place | undefined {
  const team = teams.find(({ id }) => id === wanted.team) ?? teams[0];
  const people = team?.users.filter((user) => !user.is_bot);
  const user = people?.find(({ id }) => id === wanted.user) ?? people?.[0];
  if (team === undefined || user === undefined) return undefined;
  const at = wanted.at && exists(team, wanted.at) ? wanted.at : firstPlace(team, user.id);
  return at && { team: team.id, user: user.id, at, thread: wanted.thread };
}

function exists(team: Team, at: Place['at']): boolean {
  if (at.kind === 'home') return team.apps.some(({ id }) => id === at.app);
  return team.channels.some(({ id }) => id === at.id);
}

function firstPlace(team: Team, user: string): Place['at'] | undefined {
  const channel = team.channels.find(({ kind, members }) => kind === 'public' && members.includes(user));
  const any = channel ?? team.channels[0];
  return any && { kind: 'channel', id: any.id };
}
