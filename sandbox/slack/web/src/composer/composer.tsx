import { type ReactNode, useEffect, useId, useRef } from 'react';
import type { Command } from '../api/types.ts';
import { Icon, IconButton } from '../ui/icon.tsx';
import { CompletionList } from './completion-list.tsx';
import { useComposer } from './use-composer.ts';

interface ComposerProps {
  label: string;
  commands: readonly Command[];
  /** Resolves to what went wrong, if anything did: then the text comes back. */
  onSend: (text: string) => Promise<string | undefined>;
  autoFocus?: boolean;
  /** Text that a guide types. */
  typed?: string | undefined;
  /** More buttons below the text. */
  tools?: ReactNode;
}

/** Where one writes: Enter sends, Shift+Enter breaks the line, Tab completes a command, ArrowUp brings the last one back. */
export function Composer({ label, commands, onSend, autoFocus, typed, tools }: ComposerProps): ReactNode {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, sending, error, completions, active, ...act } = useComposer({
    commands,
    onSend,
    field,
    typed,
  });
  useEffect(() => {
    if (autoFocus) field.current?.focus();
  }, [autoFocus]);

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void act.send();
      }}
    >
      {completions.length > 0 && (
        <CompletionList id={id} completions={completions} active={active} onTake={act.take} />
      )}
      {error !== undefined && (
        <p className="composer-error" role="alert">
          <Icon name="circle-alert" />
          {error}
        </p>
      )}
      <div className="composer-box">
        <textarea
          ref={field}
          rows={1}
          aria-label={label}
          dir="auto"
          placeholder={label}
          aria-autocomplete="list"
          aria-controls={completions.length > 0 ? id : undefined}
          aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
          value={text}
          onChange={({ target }) => act.write(target.value)}
          onKeyDown={act.onKeyDown}
        />
        <div className="composer-foot">
          {commands.length > 0 && (
            <IconButton
              icon="square-slash"
              label="Start a command"
              onClick={() => {
                act.write('/');
                field.current?.focus();
              }}
            />
          )}
          {tools}
          <span className="composer-note" role="status">
            {sending ? 'Sending…' : ''}
          </span>
          <button type="submit" className="send" aria-label="Send" title="Send" disabled={text.trim() === ''}>
            <Icon name="send-horizontal" />
          </button>
        </div>
      </div>
    </form>
  );
}
