import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import type { Command } from '../api/types.ts';
import { type Completion, completionsFor } from './completions.ts';
import { composerAct } from './composer-act.ts';

interface ComposerModel {
  commands: readonly Command[];
  /** Resolves to what went wrong, if anything did: then the text comes back. */
  onSend: (text: string) => Promise<string | undefined>;
  field: RefObject<HTMLTextAreaElement | null>;
  typed: string | undefined;
}

interface ComposerState {
  text: string;
  sending: boolean;
  error: string | undefined;
  completions: Completion[];
  /** The place of the completion that Enter takes; -1 where none was walked to. */
  active: number;
  write: (text: string) => void;
  take: (index: number) => void;
  send: () => Promise<void>;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** What the composer does, apart from how it looks. */
export function useComposer({ commands, onSend, field, typed }: ComposerModel): ComposerState {
  const [text, setText] = useState('');
  const [last, setLast] = useState('');
  const [active, setActive] = useState(-1);
  const [dismissed, setDismissed] = useState(false);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<string>();
  const completions = dismissed ? [] : completionsFor(text, commands);
  const write = (next: string): void => {
    setText(next);
    setActive(-1);
    setDismissed(false);
    setError(undefined);
  };
  useEffect(() => {
    if (typed === undefined) return;
    setText(typed);
    setDismissed(true);
  }, [typed]);
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
  const step = (by: number): void => {
    setActive((now) => (Math.max(now, by < 0 ? 0 : -1) + by + completions.length) % completions.length);
  };
  const acts = {
    send: () => void send(),
    recall: () => write(last),
    dismiss: () => setDismissed(true),
    take: () => take(Math.max(active, 0)),
    down: () => step(1),
    up: () => step(-1),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const act = composerAct(event, { text, active, completions });
    if (act === undefined) return;
    event.preventDefault();
    acts[act]();
  };
  return { text, sending, error, completions, active, write, take, send, onKeyDown };
}
