import type { Inline, TextBlock } from './nodes.ts';
import { parseInline } from './parse-inline.ts';
import { unescapeText } from './unescape.ts';

/**
 * Reads Slack's mrkdwn. Unclosed marks stay text; nothing is ever dropped.
 * @param text as the app sent it, with `&amp;`, `&lt;` and `&gt;` for the three characters Slack reserves
 * @param isVerbatim true where plain addresses stay text
 */
export function parseMrkdwn(text: string, isVerbatim = false): TextBlock[] {
  return splitFences(text).flatMap((part) => {
    return part.fenced
      ? [{ type: 'pre' as const, text: unescapeText(part.text) }]
      : parseLines(part.text, isVerbatim);
  });
}

interface Part {
  fenced: boolean;
  text: string;
}

function splitFences(text: string): Part[] {
  const parts = text.split('```');
  // An odd fence at the end opens nothing: it stays text.
  const last = parts.length % 2 === 0 ? `\`\`\`${parts.pop() ?? ''}` : '';
  return parts.flatMap((part, index): Part[] => {
    const whole = index === parts.length - 1 ? part + last : part;
    if (index % 2 === 1) return [{ fenced: true, text: trimNewlines(whole) }];
    return whole.trim() === '' ? [] : [{ fenced: false, text: aroundFences(whole, index, parts.length) }];
  });
}

function trimNewlines(text: string): string {
  return text.replace(/^\n|\n$/g, '');
}

/** The line break before or after a fence is the fence's own. */
function aroundFences(text: string, index: number, count: number): string {
  const start = index > 0 ? text.replace(/^\n/, '') : text;
  return index < count - 1 ? start.replace(/\n$/, '') : start;
}

function parseLines(text: string, isVerbatim: boolean): TextBlock[] {
  const blocks: { type: 'paragraph' | 'quote'; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const quoted = /^(?:&gt;|>) ?(.*)$/.exec(line);
    const type = quoted ? 'quote' : 'paragraph';
    const content = quoted ? (quoted[1] ?? '') : line;
    const current = blocks.at(-1);
    if (current?.type === type) current.lines.push(content);
    else blocks.push({ type, lines: [content] });
  }
  return blocks.map(({ type, lines }) => ({ type, children: joinLines(lines, isVerbatim) }));
}

function joinLines(lines: string[], isVerbatim: boolean): Inline[] {
  return lines.flatMap((line, index) => {
    const inline = parseInline(line, isVerbatim);
    return index === 0 ? inline : [{ type: 'break' as const }, ...inline];
  });
}
