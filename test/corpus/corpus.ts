import type { Sample, Subject } from './hand.ts';
import { PEOPLE } from './people.ts';
import { PROJECTS } from './projects.ts';
import { SCHEDULES } from './schedules.ts';
import { SERVERS } from './servers.ts';

/** Everything that people read of the views: each builder in the situations it is for. A new one goes into its subject. */
export const CORPUS: readonly Subject[] = [...PROJECTS, ...SCHEDULES, ...SERVERS, ...PEOPLE];

/** Drawn with the texts of every hand, and what is the same in several of them once. */
export function drawCorpus(): Sample[] {
  const drawn = CORPUS.flatMap(({ samples }) => samples());
  return [
    ...new Map(drawn.map((sample) => [JSON.stringify(sample.shown), sample] as const).reverse()).values(),
  ].reverse();
}
