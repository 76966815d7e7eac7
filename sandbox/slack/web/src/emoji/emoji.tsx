import type { ReactNode } from 'react';
import { codePoints, shortcodes } from './shortcodes.ts';

const drawn = new Set(Object.values(shortcodes));
const byCode = new Map(Object.values(shortcodes).map((emoji) => [codePoints(emoji), emoji]));
const pictograph = /[\p{Extended_Pictographic}\u{1f1e6}-\u{1f1ff}]\u{fe0f}?/gu;

/** An emoji by Slack's name; a name without a picture shows as it was typed. */
export function Emoji({ name }: { name: string }): ReactNode {
  const emoji = shortcodes[name.replace(/::skin-tone-\d$/, '')];
  return emoji === undefined ? `:${name}:` : <EmojiPicture emoji={emoji} label={`:${name}:`} />;
}

/** Text in which the emoji we have pictures for are drawn, so that a machine without an emoji font shows them. */
export function TextWithEmoji({ text }: { text: string }): ReactNode {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(pictograph)) {
    const emoji = byCode.get(codePoints(found[0]));
    if (emoji === undefined || !isEmojiHere(found[0])) continue;
    parts.push(text.slice(from, found.index), <EmojiPicture key={found.index} emoji={emoji} label={emoji} />);
    from = found.index + found[0].length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)];
}

/** Signs such as © and ↗ are text unless a variation selector asks for the picture. */
function isEmojiHere(found: string): boolean {
  return /\p{Emoji_Presentation}/u.test(found) || found.endsWith('\u{fe0f}') || /[✅✔✖❌⚠⏸]/u.test(found);
}

function EmojiPicture({ emoji, label }: { emoji: string; label: string }): ReactNode {
  if (!drawn.has(emoji)) return emoji;
  return (
    <img
      className="emoji"
      src={`./emoji/${codePoints(emoji)}.svg`}
      alt={emoji}
      title={label}
      draggable={false}
    />
  );
}
