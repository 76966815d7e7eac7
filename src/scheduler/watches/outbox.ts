import type { Batch } from '../../workspace/outbox-batch.ts';
import { type Watch, watchedChannels } from '../../workspace/watches.ts';
import type { Outbox } from '../schedules/outbox.ts';
import { pauseAndNotify } from '../schedules/pause.ts';
import { WATCHES } from './schedule.ts';
import { isActive } from './watched-channel.ts';

/** What the watches of a channel found and is still to be posted there. */
export const WATCH_OUTBOX: Outbox = {
  queue: 'post-watch-news',
  async read({ store }, id) {
    const found = await watchedChannels(store).get(id);
    if (found === undefined) return undefined;
    const { channel, pending } = found;
    return { channel, pending, isPaused: !isActive(found) };
  },
  async take({ store, clock, metrics }, id, batch, failed) {
    const at = clock.now();
    const last = { at, said: failed === undefined ? batch.what : `${batch.what}, but ${failed}` };
    await watchedChannels(store).update(id, (current) =>
      current === undefined
        ? undefined
        : {
            ...current,
            pending: without(current.pending, batch),
            watches: current.watches.map((watch) => withResult(watch, batch, last)),
          },
    );
    metrics.slot('watch', failed === undefined ? 'posted' : 'failed');
  },
  async pause(workspace, { id, batch, reason, signal }) {
    const found = await watchedChannels(workspace.store).get(id);
    await pauseAndNotify(workspace, WATCHES, {
      concerns: ({ channel, account }) => channel === found?.channel && account === found.account,
      paused: reason === undefined ? undefined : { cause: 'slack', reason },
      during: `undeliverable ${batch.id}`,
      signal,
    });
  },
};

function without(pending: readonly Batch[], taken: Batch): Batch[] {
  return pending.filter(({ id }) => id !== taken.id);
}

function withResult(watch: Watch, batch: Batch, last: NonNullable<Watch['last']>): Watch {
  return batch.for.includes(watch.id) ? { ...watch, last } : watch;
}
