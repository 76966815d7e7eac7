import type { IconName } from './icon-names.ts';

export interface Choice {
  value: string;
  text: string;
  description?: string;
  group?: string;
  icon?: IconName;
}

/** The choices whose text, description or group holds every word that was typed. */
export function filterChoices(choices: Choice[], query: string): Choice[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({ text, description = '', group = '' }) => {
    const searched = `${text} ${description} ${group}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

/** Choices in their groups, in the order the groups first come. */
export function groupChoices(choices: Choice[]): [string, Choice[]][] {
  const groups = Map.groupBy(choices, ({ group = '' }) => group);
  return [...groups];
}
