import { type ReactNode, useId, useState } from 'react';
import { switchControl } from '../api/client.ts';
import type { Control } from '../api/types.ts';
import { Icon } from '../ui/icon.tsx';

/** Faults and processes the demo lets one switch. */
export function ControlList({ controls }: { controls: readonly Control[] }): ReactNode {
  const [error, setError] = useState<string>();
  const [pending, setPending] = useState<string>();
  const flip = async (control: Control): Promise<void> => {
    setPending(control.id);
    const answer = await switchControl(control.id, control.kind === 'button' || !control.on);
    setPending(undefined);
    setError(answer.ok ? undefined : `“${control.label}” did not work: ${answer.error ?? 'no answer'}`);
  };
  return (
    <>
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <ul className="controls">
        {controls.map((control) => (
          <ControlRow
            key={control.id}
            control={control}
            pending={pending === control.id}
            onFlip={() => {
              if (pending === undefined) void flip(control);
            }}
          />
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  control: Control;
  pending: boolean;
  onFlip: () => void;
}

function ControlRow({ control, pending, onFlip }: RowProps): ReactNode {
  const id = useId();
  return (
    <li className="control">
      <span className="control-text">
        <span id={id}>{control.label}</span>
        {control.hint && (
          <span id={`${id}-hint`} className="hint">
            {control.hint}
          </span>
        )}
      </span>
      {control.kind === 'switch' ? (
        <button
          type="button"
          role="switch"
          aria-checked={control.on === true}
          aria-labelledby={id}
          aria-describedby={control.hint ? `${id}-hint` : undefined}
          aria-busy={pending}
          className="switch"
          onClick={onFlip}
        />
      ) : (
        <button
          type="button"
          className="button button-small"
          aria-label={control.label}
          aria-describedby={control.hint ? `${id}-hint` : undefined}
          aria-busy={pending}
          onClick={onFlip}
        >
          {pending && <Icon name="loader-circle" className="spin" />}
          {control.label.split(' ')[0]}
        </button>
      )}
    </li>
  );
}
