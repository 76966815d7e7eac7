import type { RefObject } from 'react';

const READ_AGAIN = 4;

/**
 * Reads and applies an answer. What came by the stream while the answer was under way may be newer than the answer:
 * then it is asked for again.
 * @param heard counts what the stream brought
 */
export async function readSettled<T>(
  heard: RefObject<number>,
  read: () => Promise<T>,
  apply: (answer: T) => void,
): Promise<void> {
  for (let turn = 0; turn < READ_AGAIN; turn += 1) {
    const before = heard.current;
    apply(await read());
    if (heard.current === before) return;
  }
}
