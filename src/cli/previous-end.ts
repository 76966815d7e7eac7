import { hostname } from 'node:os';
import { z } from 'zod';
import { DAY_MS } from '../core/time/clock.ts';
import type { Opened } from '../open.ts';
import { isPostgres } from '../store/open-store.ts';
import { GLOBAL } from '../store/store.ts';

/** A process that runs, or that ended without a shutdown. `at` is its start, milliseconds since the epoch. */
export const Process = z.object({ at: z.number() });

const KEPT_MS = 30 * DAY_MS;

/**
 * Records that this process runs, and reports if the one before it ended without a shutdown. On Postgres that is the one
 * with the same host and port, because other replicas run.
 * @returns a function for the shutdown. Neither rejects, because the store may not answer.
 */
export function watchEnd({ app: { parts } }: Opened, port: number): () => Promise<void> {
  const { config, store, clock, log, metrics } = parts;
  const processes = store.of(GLOBAL).collection('processes', Process);
  const id = isPostgres(config.STORE_URL) ? `${hostname()} ${port}` : 'sqlite';
  const onError = (err: unknown): void => {
    log.warn({ event: 'end_not_recorded', err }, 'Start or end of the process not stored');
  };
  const noted = begin().catch(onError);

  async function begin(): Promise<void> {
    const earlier = await processes.get(id);
    if (earlier !== undefined) {
      const reason = `the process that started at ${new Date(earlier.at).toISOString()} was killed, ran out of memory, or lost power or its store`;
      log.warn({ event: 'ended_uncleanly', reason }, 'Previous process ended without a shutdown');
    }
    await processes.put(id, { at: clock.now() }, clock.now() + KEPT_MS);
    metrics.previousEnd(earlier !== undefined);
  }

  return async () => {
    await noted;
    await processes.delete(id).catch(onError);
  };
}
