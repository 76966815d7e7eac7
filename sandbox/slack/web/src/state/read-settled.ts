import type { StreamEvent } from '../api/types.ts';

const MAX_READS = 4;

/** How many events of each kind the stream brought. */
export type Heard = Map<StreamEvent['type'], number>;

/**
 * Reads and applies an answer. What the stream brought of these kinds while the answer was under way may be newer than
 * the answer: then it is asked for again. Others do not count, or a busy stream would leave an old answer standing.
 */
export async function readSettled<T>(
  heard: Heard,
  kinds: ReadonlyArray<StreamEvent['type']>,
  read: () => Promise<T>,
  apply: (answer: T) => void,
): Promise<void> {
  const count = (): number => kinds.reduce((sum, kind) => sum + (heard.get(kind) ?? 0), 0);
  for (let reads = 1; ; reads += 1) {
    const before = count();
    const answer = await read();
    const isSettled = count() === before;
    if (isSettled || reads === MAX_READS) return apply(answer);
  }
}
