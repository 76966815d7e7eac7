import type { KeyboardEvent, ReactNode } from 'react';

interface TabsProps<K extends string> {
  id: string;
  tabs: { key: K; title: string }[];
  picked: K;
  onPick: (key: K) => void;
}

/** Tabs as the keyboard knows them: one stop, arrows move. */
export function Tabs<K extends string>({ id, tabs, picked, onPick }: TabsProps<K>): ReactNode {
  const move = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex(({ key }) => key === picked);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onPick(next.key);
    event.currentTarget.querySelector<HTMLElement>(`[id="${id}-${next.key}"]`)?.focus();
  };
  return (
    <div role="tablist" className="tabs" onKeyDown={move}>
      {tabs.map(({ key, title }) => (
        <button
          key={key}
          id={`${id}-${key}`}
          type="button"
          role="tab"
          aria-selected={key === picked}
          aria-controls={key === picked ? `${id}-panel` : undefined}
          tabIndex={key === picked ? 0 : -1}
          onClick={() => onPick(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
