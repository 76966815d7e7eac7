import type { Workspace } from '../../workspace/workspace.ts';

/** After 2 s a person is told that it goes on; after that, for how long it has. */
export const MARKS_MS: readonly number[] = [2_000, 10_000, 30_000];

export interface Progress {
  /** Ends it; resolves once nothing of it can be shown any more. */
  stop(): Promise<void>;
}

/** Shows at each mark that it goes on. What cannot be shown is a line in the log: the answer is worth more. */
export function showProgress(
  { clock, log }: Workspace,
  show: (elapsedMs: number) => Promise<void>,
  marksMs = MARKS_MS,
): Progress {
  const done = new AbortController();
  const shown = showMarks();

  async function showMarks(): Promise<void> {
    let passed = 0;
    try {
      for (const mark of marksMs) {
        await clock.sleep(mark - passed, done.signal);
        passed = mark;
        await show(mark);
      }
    } catch (error) {
      if (!done.signal.aborted)
        log.warn({ event: 'answer_failed', err: error }, 'progress could not be shown');
    }
  }

  return {
    stop() {
      // A reason of our own: making the usual one, with its stack, costs more than all else here.
      done.abort('over');
      return shown;
    },
  };
}
