import { code } from '../../core/mrkdwn.ts';
import type { Paused, Scheduled } from '../../workspace/schedules.ts';
import { changeWatch, listWatches, type PlacedWatch, type Watch } from '../../workspace/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { ensurePolling, type PollInterval } from '../schedules/poller.ts';
import type { ScheduleKind } from '../schedules/reconcile-schedules.ts';

const INTERVAL_MS = 60_000;

/** Activity is looked at once a minute. */
export const WATCH_BEAT: PollInterval = {
  queue: 'watch-activity',
  intervalMs: ({ config }) => config.NOTICE_INTERVAL_MS ?? INTERVAL_MS,
  longestIntervals: 10,
};

/** What is told of it where it is one of several things that were set up. */
function asScheduled({ watch, channel, account }: PlacedWatch): Scheduled {
  const { id, setUpBy, state } = watch;
  const what = `the watch ${code(id)} in <#${channel}>`;
  return { id, what, channel, setUpBy, account, state, resume: `watch resume ${id}` };
}

/** Changes a watch and leaves alone what is gone. */
async function change(
  { store }: Workspace,
  id: string,
  make: (current: Watch) => Watch,
): Promise<PlacedWatch | undefined> {
  const placed = (await listWatches(store)).find(({ watch }) => watch.id === id);
  if (placed !== undefined) await changeWatch(store, placed, make);
  return placed;
}

export const WATCHES: ScheduleKind = {
  list: async ({ store }) => (await listWatches(store)).map(asScheduled),
  pause: async (workspace, id, paused: Paused) => {
    await change(workspace, id, (watch) =>
      watch.state.kind === 'paused' ? watch : { ...watch, state: paused },
    );
  },
  resume: async (workspace, id, cause) => {
    const placed = await change(workspace, id, (watch) =>
      watch.state.kind === 'paused' && watch.state.cause === cause
        ? { ...watch, state: { kind: 'active' } }
        : watch,
    );
    if (placed !== undefined) await ensurePolling(workspace, WATCH_BEAT, placed.account);
  },
};
