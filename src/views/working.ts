import type { Message } from './message.ts';
import { say } from './message.ts';

/** Shown to the asker alone when an answer takes longer than two seconds. */
export function workingMessage(): Message {
  return say(':hourglass_flowing_sand: Still working on it: the service is taking its time…');
}
