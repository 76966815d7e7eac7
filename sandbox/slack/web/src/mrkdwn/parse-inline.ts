import type { Inline } from './nodes.ts';
import { parseToken } from './parse-token.ts';
import { unescapeText } from './unescape.ts';

const marks: Readonly<Record<string, 'bold' | 'italic' | 'strike'>> = {
  '*': 'bold',
  _: 'italic',
  '~': 'strike',
};
const domain = /(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|edu|gov|io|dev|app|co|me|ai|info|biz|example)\b/i
  .source;
const addresses: ReadonlyArray<readonly [RegExp, string]> = [
  [/^https?:\/\/[^\s<>|]*[^\s<>|.,:;!?'")\]}*_~]/, ''],
  [new RegExp(`^[a-z0-9._%+-]{1,64}@${domain}`, 'i'), 'mailto:'],
  [new RegExp(`^${domain}(?:\\/[^\\s<>|]*[^\\s<>|.,:;!?'")\\]}*_~])?`, 'i'), 'http://'],
];
const MAX_ADDRESS = 3000;
const emojiName = /^:([a-z0-9_+'-]{1,60}):/;

/**
 * Reads one line of mrkdwn: marks, code, tokens in angle brackets and emoji.
 * @param isVerbatim false where Slack also makes links of plain addresses, domains and e-mail addresses
 */
export function parseInline(line: string, isVerbatim = false): Inline[] {
  const out: Inline[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    if (plain !== '') out.push({ type: 'text', text: unescapeText(plain) });
    plain = '';
  };
  while (at < line.length) {
    const found = readAt(line, at, isVerbatim);
    if (found === undefined) {
      plain += line[at];
      at += 1;
      continue;
    }
    flush();
    out.push(found.node);
    at = found.end;
  }
  flush();
  return out;
}

interface Found {
  node: Inline;
  end: number;
}

function readAt(line: string, at: number, isVerbatim: boolean): Found | undefined {
  const character = line[at] ?? '';
  if (character === '<') return readToken(line, at);
  if (character === '`') return readCode(line, at);
  if (character === ':') return readEmoji(line, at);
  if (marks[character] !== undefined) return readMark(line, at, isVerbatim);
  return isVerbatim ? undefined : readAddress(line, at);
}

function readToken(line: string, at: number): Found | undefined {
  const end = line.indexOf('>', at);
  if (end < 0) return undefined;
  const node = parseToken(line.slice(at + 1, end), (label) => parseInline(label, true));
  return node && { node, end: end + 1 };
}

function readCode(line: string, at: number): Found | undefined {
  const end = line.indexOf('`', at + 1);
  if (end <= at + 1) return undefined;
  return { node: { type: 'code', text: unescapeText(line.slice(at + 1, end)) }, end: end + 1 };
}

function readEmoji(line: string, at: number): Found | undefined {
  const name = emojiName.exec(line.slice(at, at + 64))?.[1];
  return name === undefined ? undefined : { node: { type: 'emoji', name }, end: at + name.length + 2 };
}

/** An address in plain words, which Slack links wherever it is not told to leave the text as it is. */
function readAddress(line: string, at: number): Found | undefined {
  if (isWordCharacter(line[at - 1])) return undefined;
  const rest = line.slice(at, at + MAX_ADDRESS);
  for (const [pattern, scheme] of addresses) {
    const raw = pattern.exec(rest)?.[0];
    if (raw === undefined) continue;
    const text = unescapeText(raw);
    return {
      node: { type: 'link', url: scheme + text, children: [{ type: 'text', text }] },
      end: at + raw.length,
    };
  }
  return undefined;
}

/** A mark opens at a word's start and closes at a word's end, on the same line. */
function readMark(line: string, at: number, isVerbatim: boolean): Found | undefined {
  const mark = line[at] ?? '';
  const type = marks[mark];
  if (type === undefined || isWordCharacter(line[at - 1]) || isBlank(line[at + 1])) return undefined;
  const end = findClosing(line, at + 1, mark);
  if (end === undefined) return undefined;
  return { node: { type, children: parseInline(line.slice(at + 1, end), isVerbatim) }, end: end + 1 };
}

/** The end of a mark. Signs within `<…>` are no marks. */
function findClosing(line: string, from: number, mark: string): number | undefined {
  for (let at = from; at < line.length; at += 1) {
    const token = line[at] === '<' ? readToken(line, at) : undefined;
    if (token !== undefined) at = token.end - 1;
    else if (line[at] !== mark) continue;
    else if (at > from && !isBlank(line[at - 1]) && !isWordCharacter(line[at + 1]) && line[at + 1] !== mark)
      return at;
  }
  return undefined;
}

function isBlank(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character);
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
