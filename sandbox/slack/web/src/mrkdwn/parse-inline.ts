import type { Inline } from './nodes.ts';
import { parseToken } from './parse-token.ts';
import { unescapeText } from './unescape.ts';

const marks: Readonly<Record<string, 'bold' | 'italic' | 'strike'>> = {
  '*': 'bold',
  _: 'italic',
  '~': 'strike',
};
const bareUrl = /^https?:\/\/[^\s<>|]*[^\s<>|.,:;!?'")\]}*_~]/;
const emojiName = /^:([a-z0-9_+'-]{1,60}):/;

/** Reads one line of mrkdwn: marks, code, tokens in angle brackets, emoji and bare addresses. */
export function parseInline(line: string): Inline[] {
  const out: Inline[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    if (plain !== '') out.push({ type: 'text', text: unescapeText(plain) });
    plain = '';
  };
  while (at < line.length) {
    const found = readAt(line, at);
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

function readAt(line: string, at: number): Found | undefined {
  const character = line[at] ?? '';
  if (character === '<') return readToken(line, at);
  if (character === '`') return readCode(line, at);
  if (character === ':') return readEmoji(line, at);
  if (character === 'h') return readUrl(line, at);
  return marks[character] === undefined ? undefined : readMark(line, at, character);
}

function readToken(line: string, at: number): Found | undefined {
  const end = line.indexOf('>', at);
  if (end < 0) return undefined;
  const node = parseToken(line.slice(at + 1, end));
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

function readUrl(line: string, at: number): Found | undefined {
  if (isWordCharacter(line[at - 1])) return undefined;
  const raw = bareUrl.exec(line.slice(at))?.[0];
  if (raw === undefined) return undefined;
  const url = unescapeText(raw);
  return { node: { type: 'link', url, children: [{ type: 'text', text: url }] }, end: at + raw.length };
}

/** A mark opens at a word's start and closes at a word's end, on the same line. */
function readMark(line: string, at: number, mark: string): Found | undefined {
  const type = marks[mark];
  if (type === undefined || isWordCharacter(line[at - 1]) || isBlank(line[at + 1])) return undefined;
  const end = findClosing(line, at + 1, mark);
  if (end === undefined) return undefined;
  return { node: { type, children: parseInline(line.slice(at + 1, end)) }, end: end + 1 };
}

function findClosing(line: string, from: number, mark: string): number | undefined {
  for (let at = line.indexOf(mark, from); at >= 0; at = line.indexOf(mark, at + 1)) {
    if (at > from && !isBlank(line[at - 1]) && !isWordCharacter(line[at + 1]) && line[at + 1] !== mark)
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
