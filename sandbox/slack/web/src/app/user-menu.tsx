import type { ReactNode } from 'react';
import type { User } from '../api/types.ts';
import { useDirectory } from '../state/directory.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu.tsx';

/** Whose eyes the page looks through, and everybody else's. */
export function UserMenu({ onPick }: { onPick: (user: string) => void }): ReactNode {
  const { team, me, user } = useDirectory();
  const people = team.users.filter(({ is_bot, elsewhere }) => !is_bot && !elsewhere);
  const current = user(me);
  if (current === undefined) return null;
  return (
    <MenuButton
      label="Switch user"
      labelInside
      className="user-menu"
      items={people.map((person) => ({
        key: person.id,
        content: (
          <span className="user-line">
            <Avatar id={person.id} name={person.real_name} />
            <bdi className="user-line-name">{person.real_name}</bdi>
          </span>
        ),
        hint: roleOf(person),
        checked: person.id === me,
        onSelect: () => onPick(person.id),
      }))}
    >
      <Avatar id={current.id} name={current.real_name} />
      <span className="visually-hidden">Switch user, now</span>
      <span className="user-text">
        <strong>{current.real_name}</strong>
        <span>{roleOf(current)}</span>
      </span>
      <Icon name="chevron-down" />
    </MenuButton>
  );
}

function roleOf(person: User): string {
  if (person.team_id !== undefined) return 'From another workspace';
  if (person.is_ultra_restricted) return 'Guest of one channel';
  if (person.is_restricted) return 'Guest';
  return person.title ?? (person.is_admin ? 'Workspace admin' : 'Member');
}
