import type { ReactNode } from 'react';
import type { Completion } from './completions.ts';

interface ListProps {
  id: string;
  completions: readonly Completion[];
  active: number;
  onTake: (index: number) => void;
}

export function CompletionList({ id, completions, active, onTake }: ListProps): ReactNode {
  return (
    <div id={id} role="listbox" aria-label="Commands" className="completions">
      {completions.map((completion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field that owns the list has the keys
        <div
          key={completion.title}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={`completion${index === active ? ' active' : ''}`}
          // Keeps the focus in the text field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(index)}
        >
          <span className="completion-title">{completion.title}</span>
          <span className="completion-hint">{completion.hint}</span>
          <span className="completion-description">{completion.description}</span>
        </div>
      ))}
    </div>
  );
}
