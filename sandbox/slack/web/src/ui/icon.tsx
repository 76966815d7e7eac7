import type { ReactNode } from 'react';
import type { IconName } from './icon-names.ts';

/** A decorative icon: whatever holds it carries the name. */
export function Icon({ name, className }: { name: IconName; className?: string }): ReactNode {
  return (
    <svg className={className ? `icon ${className}` : 'icon'} aria-hidden="true" focusable="false">
      <use href={`./icons.svg#${name}`} />
    </svg>
  );
}

interface IconButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  pressed?: boolean;
  className?: string;
}

export function IconButton({ icon, label, onClick, pressed, className }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={className ? `icon-button ${className}` : 'icon-button'}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
