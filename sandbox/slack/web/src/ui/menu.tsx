import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';

interface MenuItem {
  key: string;
  content: ReactNode;
  hint?: ReactNode;
  /** Set in menus of which one item is the current one. */
  checked?: boolean;
  onSelect: () => void;
}

interface MenuButtonProps {
  label: string;
  items: MenuItem[];
  align?: 'start' | 'end';
  className?: string;
  /** Whether the button's content names it; else `label` does. */
  labelInside?: boolean;
  children: ReactNode;
}

/** A button that opens a menu: arrows, Home, End and first letters move, Enter takes, Escape closes. */
export function MenuButton({
  label,
  items,
  align,
  className,
  labelInside = false,
  children,
}: MenuButtonProps): ReactNode {
  const anchor = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = (): void => {
    setOpen(false);
    anchor.current?.focus();
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        className={className ?? 'icon-button'}
        aria-label={labelInside ? undefined : label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {open && (
        <Popover
          anchor={anchor}
          align={align ?? 'start'}
          onClose={() => setOpen(false)}
          className="menu-popover"
        >
          <Menu label={label} items={items} onClose={close} />
        </Popover>
      )}
    </>
  );
}

function Menu({
  label,
  items,
  onClose,
}: {
  label: string;
  items: MenuItem[];
  onClose: () => void;
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const current = ref.current?.querySelector<HTMLElement>('[aria-checked="true"]');
    (current ?? ref.current?.querySelector<HTMLElement>('button'))?.focus();
  }, []);
  return (
    <div
      ref={ref}
      role="menu"
      aria-label={label}
      className="menu"
      tabIndex={-1}
      onKeyDown={(event) => move(event, onClose)}
    >
      {items.map((item) => (
        <button
          key={item.key}
          type="button"
          {...roleOf(item)}
          aria-describedby={item.hint === undefined ? undefined : `${id}-${item.key}`}
          className="menu-item"
          tabIndex={-1}
          onClick={() => {
            onClose();
            item.onSelect();
          }}
        >
          <span className="menu-item-text">{item.content}</span>
          {item.hint !== undefined && (
            <span id={`${id}-${item.key}`} className="menu-item-hint">
              {item.hint}
            </span>
          )}
          {item.checked && <Icon name="check" className="menu-check" />}
        </button>
      ))}
    </div>
  );
}

function roleOf({ checked }: MenuItem) {
  return checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked };
}

function move(event: KeyboardEvent<HTMLDivElement>, onClose: () => void): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('button')];
  const at = items.findIndex((item) => item.matches(':focus'));
  const target = targetOf(event.key, at, items);
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    event.stopPropagation();
    onClose();
  } else if (target !== undefined) {
    event.preventDefault();
    target.focus();
  }
}

function targetOf(key: string, at: number, items: HTMLElement[]): HTMLElement | undefined {
  const count = items.length;
  if (key === 'ArrowDown') return items[(at + 1) % count];
  if (key === 'ArrowUp') return items[(at - 1 + count) % count];
  if (key === 'Home') return items[0];
  if (key === 'End') return items[count - 1];
  if (key.length !== 1 || key === ' ') return undefined;
  const rest = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return rest.find((item) => item.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
}
