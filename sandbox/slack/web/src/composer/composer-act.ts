import type { Completion } from './completions.ts';

type ComposerAct = 'send' | 'recall' | 'dismiss' | 'take' | 'up' | 'down';

interface ComposerSight {
  text: string;
  active: number;
  completions: readonly Completion[];
}

const listKeys: Readonly<Record<string, ComposerAct>> = {
  Escape: 'dismiss',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** What a key means to the composer; undefined where it is the text field's or the page's own. */
export function composerAct(
  { key, shiftKey }: { key: string; shiftKey: boolean },
  sight: ComposerSight,
): ComposerAct | undefined {
  const { text, active, completions } = sight;
  if (shiftKey) return undefined;
  if (key === 'Enter') return active >= 0 || isBeginning(sight) ? 'take' : 'send';
  if (completions.length === 0) return key === 'ArrowUp' && text === '' ? 'recall' : undefined;
  // Where there is nothing left to complete, Tab goes on to the next control.
  if (key === 'Tab') return completions[Math.max(active, 0)]?.text === text ? undefined : 'take';
  return listKeys[key];
}

/** `/deck` is not sent but completed; `/deckhand` is sent. */
function isBeginning({ text, completions: [first] }: ComposerSight): boolean {
  return first !== undefined && !text.includes(' ') && text !== first.title && text !== '/';
}
