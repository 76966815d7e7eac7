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
  const onFlip = (control: Control): void => {
    if (pending === undefined) void flip(control);
  };
  return (
    <>
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      {groupsOf(controls).map(([group, members]) => (
        <ControlGroup key={group} title={group} controls={members} pending={pending} onFlip={onFlip} />
      ))}
    </>
  );
}

/** By heading, those without one first. */
function groupsOf(controls: readonly Control[]): [string, Control[]][] {
  const groups = new Map<string, Control[]>([['', []]]);
  for (const control of controls) {
    const group = control.group ?? '';
    groups.set(group, [...(groups.get(group) ?? []), control]);
  }
  return [...groups].filter(([, members]) => members.length > 0);
}

interface GroupProps {
  title: string;
  controls: readonly Control[];
  pending: string | undefined;
  onFlip: (control: Control) => void;
}

function ControlGroup({ title, controls, pending, onFlip }: GroupProps): ReactNode {
  const list = (
    <ul className="controls">
      {controls.map((control) => (
        <ControlRow
          key={control.id}
          control={control}
          pending={pending === control.id}
          onFlip={() => onFlip(control)}
        />
      ))}
    </ul>
  );
  if (title === '') return list;
  const on = controls.filter((control) => control.on === true).length;
  return (
    <details className="control-group">
      <summary>
        {title}
        {on > 0 && <span className="control-count">{on} on</span>}
      </summary>
      {list}
    </details>
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
