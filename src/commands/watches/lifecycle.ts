import type { PlacedWatch } from '../../records/watches.ts';
import { withPolling } from '../../scheduler/schedules/polling.ts';
import { WATCH_FEED } from '../../scheduler/watches/feed.ts';
import { CHANNEL_WATCHES } from '../../scheduler/watches/schedule.ts';
import { SCHEDULE_FACES } from '../../views/schedules/schedule.ts';
import { watchListMessage, watchWords } from '../../views/watches/watch.ts';
import { isNamed } from '../../workspace/projects.ts';
import { defineCommand } from '../command.ts';
import type { ScheduleFeature } from '../schedules/feature.ts';
import { listCommand, scheduleCommands } from '../schedules/lifecycle.ts';

/** Watches, as people meet them. */
export const WATCH_FEATURE: ScheduleFeature<PlacedWatch> = {
  kind: CHANNEL_WATCHES,
  face: SCHEDULE_FACES.watch,
  words: watchWords,
  matches: ({ watch: { project } }, wanted) => project !== undefined && isNamed(project, wanted),
  async list(watches, listing, { store }) {
    return watchListMessage(await withPolling(store, WATCH_FEED.interval, watches), listing);
  },
};

const { pause, resume, remove } = scheduleCommands(WATCH_FEATURE);

export const watchPause = defineCommand(pause);
export const watchResume = defineCommand(resume);
export const unwatch = defineCommand({
  ...remove,
  usage: '[id|project|all]',
  examples: ['unwatch', 'unwatch w7k2', 'unwatch storefront', 'unwatch all'],
});

export const watchList = defineCommand({
  ...listCommand(WATCH_FEATURE),
  summary: 'Lists this channel’s watches: who set them up, when, and what came of them',
});
