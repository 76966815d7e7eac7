import type { Message } from '../../core/message.ts';
import { say } from './message.ts';
import { duration } from './time.ts';

const LONG_MS = 10_000;

/** That an answer takes longer than two seconds; from ten on, for how long it has. */
export function workingWords(elapsedMs: number): string {
  const far = elapsedMs < LONG_MS ? '' : ` (${duration(elapsedMs)} so far)`;
  return `:hourglass_flowing_sand: Still working on it${far}: the service is taking its time…`;
}

/** Shown to the asker alone. */
export function workingMessage(elapsedMs = 0): Message {
  return say(workingWords(elapsedMs));
}
