import { isDateFormat } from './date-token.ts';
import type { Inline } from './nodes.ts';
import { unescapeText } from './unescape.ts';

type ReadLabel = (label: string) => Inline[];

/** Reads what stands between `<` and `>`; `undefined` when Slack would show it as text. */
export function parseToken(token: string, readLabel: ReadLabel): Inline | undefined {
  if (token.startsWith('@')) return mention('user', token);
  if (token.startsWith('#')) return mention('channel', token);
  if (token.startsWith('!')) return parseSpecial(token);
  return parseLink(token, readLabel);
}

function mention(type: 'user' | 'channel', token: string): Inline | undefined {
  const [id, label] = split(token.slice(1));
  if (!/^[A-Z0-9]+$/.test(id)) return undefined;
  return label === undefined ? { type, id } : { type, id, label };
}

function parseSpecial(token: string): Inline | undefined {
  if (token.startsWith('!date^')) return parseDate(token);
  if (token.startsWith('!subteam^')) return { type: 'usergroup', id: split(token.slice(9))[0] };
  const [range] = split(token.slice(1));
  return /^(?:here|channel|everyone)$/.test(range) ? { type: 'broadcast', range } : undefined;
}

function parseDate(token: string): Inline | undefined {
  const [parts, fallback] = split(token);
  const [, timestamp, format, url] = parts.split('^');
  if (!timestamp || !/^\d{1,12}$/.test(timestamp) || !format) return undefined;
  if (fallback && !isDateFormat(unescapeText(format))) return { type: 'text', text: fallback };
  return {
    type: 'date',
    timestamp: Number(timestamp),
    format: unescapeText(format),
    ...(url && { url: unescapeText(url) }),
    ...(fallback && { fallback }),
  };
}

function parseLink(token: string, readLabel: ReadLabel): Inline | undefined {
  const bar = token.indexOf('|');
  const raw = bar < 0 ? token : token.slice(0, bar);
  if (!/^(?:https?:\/\/|mailto:|tel:)/.test(raw)) return undefined;
  const url = unescapeText(raw);
  return {
    type: 'link',
    url,
    children:
      bar < 0
        ? [{ type: 'text', text: url.replace(/^(?:mailto|tel):/, '') }]
        : readLabel(token.slice(bar + 1)),
  };
}

/** The part before the first `|`, and the label after it. */
function split(token: string): [string, string | undefined] {
  const bar = token.indexOf('|');
  return bar < 0 ? [token, undefined] : [token.slice(0, bar), unescapeText(token.slice(bar + 1))];
}
