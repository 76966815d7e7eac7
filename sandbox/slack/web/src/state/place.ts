/** What the address after `#/` says: whose eyes, which conversation or Home, which thread. */
export interface Place {
  team: string;
  user: string;
  at: { kind: 'channel'; id: string } | { kind: 'home'; app: string };
  thread: string | undefined;
}

/** `#/team/user/channel[/thread]` or `#/team/user/home/app`. */
export function readPlace(hash: string): Partial<Place> {
  const [team, user, first, second] = hash.replace(/^#\//, '').split('/').map(decodeURIComponent);
  if (!team || !user) return {};
  if (first === 'home' && second) return { team, user, at: { kind: 'home', app: second } };
  return {
    team,
    user,
    ...(first && { at: { kind: 'channel', id: first } }),
    ...(second && { thread: second }),
  };
}

export function writePlace({ team, user, at, thread }: Place): string {
  const parts =
    at.kind === 'home' ? [team, user, 'home', at.app] : [team, user, at.id, ...(thread ? [thread] : [])];
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}
