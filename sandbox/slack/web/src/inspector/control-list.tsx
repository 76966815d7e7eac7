import { type ReactNode, useId, useState } from 'react';
import { switchControl } from '../api/client.ts';
import type { Control } from '../api/types.ts';

/** Faults and processes the demo lets one switch. */
export function ControlList({ controls }: { controls: readonly Control[] }): ReactNode {
  const [error, setError] = useState<string>();
  const flip = async (control: Control): Promise<void> => {
    const answer = await switchControl(control.id, control.kind === 'button' || !control.on);
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
          <ControlRow key={control.id} control={control} onFlip={() => void flip(control)} />
        ))}
      </ul>
    </>
  );
}

function ControlRow({ control, onFlip }: { control: Control; onFlip: () => void }): ReactNode {
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
          className="switch"
          onClick={onFlip}
        />
      ) : (
        <button type="button" className="button button-small" aria-label={control.label} onClick={onFlip}>
          {control.label.split(' ')[0]}
        </button>
      )}
    </li>
  );
}
