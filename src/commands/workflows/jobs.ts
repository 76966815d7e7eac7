import type { Deckhand } from '../../deckhand.ts';
import { END_STEP, endStep } from '../../scheduler/workflows/end-steps.ts';
import { RUN_STEP, runStep, stepFailed } from './steps.ts';

/** The queues that carry workflow steps; an outage of Slack of half an hour leaves no workflow waiting. */
export function declareSteps(deckhand: Deckhand): void {
  deckhand.engine.work(RUN_STEP, (job) => runStep(deckhand, job), {
    concurrency: 50,
    attempts: 3,
    backoffMs: 1000,
    onDeadLetter: (data, error) => stepFailed(deckhand, data, error),
  });
  deckhand.engine.work(END_STEP, (job) => endStep(deckhand, job), {
    concurrency: 50,
    attempts: 10,
    backoffMs: 5_000,
  });
}
