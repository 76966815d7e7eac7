import type { InputBlock as InputData } from '@slack/types';
import { type ReactNode, useId } from 'react';
import { Element } from '../elements/element.tsx';
import type { Field } from '../elements/use-element.ts';
import { PlainText } from '../mrkdwn/text.tsx';
import { useSurface } from '../state/surface.ts';
import { Icon } from '../ui/icon.tsx';

const grouped = ['checkboxes', 'radio_buttons'];

/** A labelled field: "optional" mark, hint below, and the fault the app or the form found. */
export function InputBlock({ block, blockId }: { block: InputData; blockId: string }): ReactNode {
  const id = useId();
  const { errors } = useSurface();
  const error = errors[blockId];
  const described = [block.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const field: Field = {
    id,
    labelId: `${id}-label`,
    describedBy: described === '' ? undefined : described,
    invalid: error !== undefined,
    required: block.optional !== true,
    dispatch: block.dispatch_action === true,
  };
  const label = (
    <>
      <PlainText text={block.label} />
      {block.optional && <span className="optional"> (optional)</span>}
    </>
  );
  return (
    <div className={`input-block${error === undefined ? '' : ' invalid'}`} data-block-id={blockId}>
      {grouped.includes(block.element.type) ? (
        <span id={field.labelId} className="label">
          {label}
        </span>
      ) : (
        <label id={field.labelId} htmlFor={id} className="label">
          {label}
        </label>
      )}
      <Element element={block.element} blockId={blockId} field={field} />
      {error !== undefined && (
        <p id={`${id}-error`} className="field-error" role="alert">
          <Icon name="circle-alert" />
          {error}
        </p>
      )}
      {block.hint && (
        <p id={`${id}-hint`} className="hint">
          <PlainText text={block.hint} />
        </p>
      )}
    </div>
  );
}
