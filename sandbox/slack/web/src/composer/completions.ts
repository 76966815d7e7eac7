import type { Command } from '../api/types.ts';

export interface Completion {
  /** What the text field holds once this is taken. */
  text: string;
  title: string;
  hint: string;
  description: string;
}

/** What could be meant by the beginning of a command; nothing for any other text. */
export function completionsFor(text: string, commands: readonly Command[]): Completion[] {
  if (!text.startsWith('/') || text.includes('\n')) return [];
  const [, word = '', rest] = /^(\/\S*)(?: (.*))?$/.exec(text) ?? [];
  if (rest === undefined)
    return commands.filter(({ command }) => command.startsWith(word)).map(commandCompletion);
  const command = commands.find((one) => one.command === word);
  return command ? usageCompletions(command, rest) : [];
}

/** The command a text calls and what follows it, or `undefined` for a plain message. */
export function splitCommand(
  text: string,
  commands: readonly Command[],
): { command: string; rest: string } | undefined {
  const [, word = '', rest = ''] = /^(\/\S+)\s*(.*)$/s.exec(text) ?? [];
  return commands.some(({ command }) => command === word) ? { command: word, rest } : undefined;
}

function commandCompletion({ command, description, usage_hint }: Command): Completion {
  return { text: `${command} `, title: command, hint: usage_hint, description };
}

function usageCompletions({ command, usage_hint, description }: Command, rest: string): Completion[] {
  const usages = splitUsages(usage_hint);
  if (usages.length < 2)
    return [{ text: `${command} ${rest}`, title: command, hint: usage_hint, description }];
  const typed = rest.trimStart().toLowerCase();
  return usages.flatMap((usage) => {
    const words = literalWords(usage);
    const isMeant = words.startsWith(typed) || typed.startsWith(`${words} `);
    if (!isMeant) return [];
    const text = typed.length > words.length ? `${command} ${rest}` : `${command} ${words} `;
    return [{ text, title: `${command} ${words}`, hint: usage.slice(words.length).trim(), description: '' }];
  });
}

/** Splits `test [project|url] | connect` at the bars that stand in no bracket. */
function splitUsages(hint: string): string[] {
  const parts = hint.match(/(?:\[[^\]]*\]|<[^>]*>|[^|])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => /^[\w-]/.test(part));
}

function literalWords(usage: string): string {
  return (/^[^[<(…]*/.exec(usage)?.[0] ?? '').trim();
}
