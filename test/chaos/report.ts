import type { Verdict } from './slot-posts.ts';

export type Print = (line: string) => void;

/** Says what became of slots. False where one was lost, or doubled without a count. */
export function sumUp({ lost, doubled }: Verdict, uncertain: readonly string[], print: Print): boolean {
  const unexplained = doubled.filter((name) => !uncertain.includes(name));
  print(`${lost.length} lost, ${doubled.length} doubled.`);
  print(`${uncertain.length} posts were sent again because nobody knew whether Slack had them, and counted.`);
  for (const name of lost) print(`lost: ${name}`);
  for (const name of unexplained) print(`doubled without a count: ${name}`);
  return lost.length + unexplained.length === 0;
}
