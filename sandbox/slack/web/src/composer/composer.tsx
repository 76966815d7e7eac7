import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Command } from '../api/types.ts';
import { Icon, IconButton } from '../ui/icon.tsx';
import { CompletionList } from './completion-list.tsx';
import { completionsFor } from './completions.ts';

interface ComposerProps {
  label: string;
  commands: readonly Command[];
  /** Resolves to what went wrong, if anything did: then the text comes back. */
  onSend: (text: string) => Promise<string | undefined>;
  autoFocus?: boolean;
}

/** Where one writes: Enter sends, Shift+Enter breaks the line, Tab completes a command, ArrowUp brings the last one back. */
export function Composer({ label, commands, onSend, autoFocus }: ComposerProps): ReactNode {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState('');
  const [last, setLast] = useState('');
  const [active, setActive] = useState(-1);
  const [dismissed, setDismissed] = useState(false);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<string>();
  const completions = dismissed ? [] : completionsFor(text, commands);
  useEffect(() => {
    if (autoFocus) field.current?.focus();
  }, [autoFocus]);

  const write = (next: string): void => {
    setText(next);
    setActive(-1);
    setDismissed(false);
    setError(undefined);
  };
  const take = (index: number): void => {
    const completion = completions[index];
    if (completion) write(completion.text);
    field.current?.focus();
  };
  const send = async (): Promise<void> => {
    const said = text.trim();
    if (said === '') return;
    write('');
    setLast(said);
    setSending(true);
    const fault = await onSend(said);
    setSending(false);
    setError(fault);
    if (fault !== undefined) setText((now) => (now === '' ? said : now));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const act = keyAction(event, {
      completions: completions.length,
      active,
      text,
      first: completions[0]?.title,
    });
    if (act === undefined) return;
    event.preventDefault();
    if (act === 'send') void send();
    else if (act === 'recall') write(last);
    else if (act === 'dismiss') setDismissed(true);
    else if (act === 'take') take(Math.max(active, 0));
    else setActive((now) => (now + (act === 'down' ? 1 : -1) + completions.length) % completions.length);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {completions.length > 0 && (
        <CompletionList id={id} completions={completions} active={active} onTake={take} />
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
          placeholder={label}
          aria-autocomplete="list"
          aria-controls={completions.length > 0 ? id : undefined}
          aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
          value={text}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-foot">
          <IconButton
            icon="square-slash"
            label="Start a command"
            onClick={() => {
              write('/');
              field.current?.focus();
            }}
          />
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

type KeyAction = 'send' | 'recall' | 'dismiss' | 'take' | 'up' | 'down';

interface KeyState {
  completions: number;
  active: number;
  text: string;
  first: string | undefined;
}

function keyAction(event: KeyboardEvent, state: KeyState): KeyAction | undefined {
  const { completions, active, text } = state;
  if (event.key === 'Enter' && !event.shiftKey) return active >= 0 || isBeginning(state) ? 'take' : 'send';
  if (completions === 0) return event.key === 'ArrowUp' && text === '' ? 'recall' : undefined;
  const keys: Readonly<Record<string, KeyAction>> = {
    Tab: 'take',
    Escape: 'dismiss',
    ArrowUp: 'up',
    ArrowDown: 'down',
  };
  return event.shiftKey ? undefined : keys[event.key];
}

/** `/deck` is not sent but completed; `/deckhand` is sent. */
function isBeginning({ text, first }: KeyState): boolean {
  return first !== undefined && !text.includes(' ') && text !== first && text !== '/';
}
