import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

const TINTS = 8;

/** Initials on a colour that stays with the id; apps get the robot. */
export function Avatar({ id, name, isApp }: { id: string; name: string; isApp?: boolean }): ReactNode {
  return (
    <span className={`avatar tint-${tintOf(id)}${isApp ? ' avatar-app' : ''}`} aria-hidden="true">
      {isApp ? <Icon name="bot" /> : <Initials name={name} />}
    </span>
  );
}

/** Drawn by the style sheet, so that they are a picture and no text to be read, searched or copied. */
export function Initials({ name }: { name: string }): ReactNode {
  return <span className="initials" data-initials={initials(name)} />;
}

function initials(name: string): string {
  const words = name.split(/[\s-]+/).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();
}

function tintOf(id: string): number {
  return [...id].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973, 7) % TINTS;
}
