/** What a person typed after the slash word, cleaned of what phones, keyboards and Slack make of it. */
export interface Words {
  words: string[];
  flags: Record<string, string | true>;
}

const QUOTES = /[\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02]/g;
const APOSTROPHES = /[\u2018\u2019\u201a\u201b\u2039\u203a\uff07]/g;
const DASHES = /(^|\s)[\u2012-\u2015\u2212](?=[a-z])/gi;
const SPACES = /[\s\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]+/g;
// `<https://a.example|label>`, `<#C1|general>`, `<@U1|ann>`: the label is what the person meant, where there is one.
const LINK = /<(https?:\/\/[^|<>\s]+)(?:\|([^<>]*))?>/g;
// A word copied out of a message keeps its formatting: `name`, *name* or _name_.
const FORMATTED = /^([`*_])([^`*_]+)\1$/;
const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** No command is longer; what follows is dropped before anything else is done with it. */
const MOST_TYPED = 3_000;

/**
 * At most 3,000 characters with straight quotes, single spaces and no Slack link markup, in time linear in their number.
 * Pure; idempotent but for escaped entities.
 */
export function cleanCommandText(text: string): string {
  return text
    .slice(0, MOST_TYPED)
    .toWellFormed()
    .replace(QUOTES, '"')
    .replace(APOSTROPHES, "'")
    .replace(LINK, (_, url: string, label: string | undefined) => labelOrUrl(url, label))
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(SPACES, ' ')
    .replace(DASHES, '$1--')
    .trim()
    .slice(0, MOST_TYPED);
}

/** Splits cleaned text at spaces, keeps quoted parts whole, and takes `--flag value` and `--flag=value` out. */
export function splitWords(text: string, switches: readonly string[] = []): Words {
  const tokens = tokensOf(cleanCommandText(text));
  const words: string[] = [];
  const flags: Record<string, string | true> = {};
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    const flag = /^--([a-z][a-z-]*)(?:=(.*))?$/i.exec(token);
    if (flag?.[1] === undefined) {
      words.push(token);
      continue;
    }
    const name = flag[1].toLowerCase();
    const next = tokens[at + 1];
    if (flag[2] !== undefined) flags[name] = unquote(flag[2]);
    else if (switches.includes(name) || next === undefined || next.startsWith('--')) flags[name] = true;
    else {
      flags[name] = next;
      at += 1;
    }
  }
  return { words, flags };
}

/** A single quote only opens at a word's start and closes at a word's end; elsewhere it is an apostrophe. */
function tokensOf(text: string): string[] {
  const tokens = text.match(/'[^']+'(?=\s|$)|(?:[^\s"]*"[^"]*"[^\s"]*)+|[^\s]+/g) ?? [];
  return tokens
    .map((token) => (token.startsWith('--') ? token : unquote(token)))
    .filter((token) => token !== '');
}

function unquote(token: string): string {
  const single = /^'(.*)'$/.exec(token);
  const plain = (single?.[1] ?? token).replaceAll('"', '');
  return FORMATTED.exec(plain)?.[2] ?? plain;
}

function labelOrUrl(url: string, label: string | undefined): string {
  return label === undefined || label === '' ? url : label;
}
