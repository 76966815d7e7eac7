import type { Deckhand } from '../../deckhand.ts';
import { REFRESH_HOME } from '../../workspace/home-refresh.ts';
import { refreshHome } from './publish.ts';

export function declareHome(deckhand: Deckhand): void {
  deckhand.engine.work(REFRESH_HOME, (job) => refreshHome(deckhand, job), {
    concurrency: 10,
    attempts: 2,
    backoffMs: 5_000,
  });
}
