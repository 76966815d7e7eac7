import type { Message } from '../../core/message.ts';
import type { PlacedWatch } from '../../records/watches.ts';
import { pollStatus } from '../../scheduler/schedules/poller.ts';
import { WATCH_FEED } from '../../scheduler/watches/feed.ts';
import { WATCHES } from '../../scheduler/watches/schedule.ts';
import { SCHEDULE_FACES } from '../../views/schedules/card.ts';
import type { ScheduleListing } from '../../views/schedules/list.ts';
import { watchListMessage, watchWords } from '../../views/watches/watch.ts';
import { isNamed } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineCommand } from '../command.ts';
import type { ScheduleFeature } from '../schedules/feature.ts';
import { listCommand, scheduleCommands } from '../schedules/lifecycle.ts';

/** Watches, as people meet them. */
export const WATCH_FEATURE: ScheduleFeature<PlacedWatch> = {
  kind: WATCHES,
  face: SCHEDULE_FACES.watch,
  words: watchWords,
  matches: ({ watch: { project } }, wanted) => project !== undefined && isNamed(project, wanted),
  list: listMessage,
};

async function listMessage(
  watches: readonly PlacedWatch[],
  listing: ScheduleListing,
  { store }: Workspace,
): Promise<Message> {
  const accounts = [...new Set(watches.map(({ account }) => account))];
  const polling = new Map(
    await Promise.all(
      accounts.map(
        async (account) => [account, await pollStatus(store, WATCH_FEED.interval, account)] as const,
      ),
    ),
  );
  return watchListMessage(
    watches.map((placed) => ({ ...placed, ...(polling.get(placed.account) ?? { failures: 0 }) })),
    listing,
  );
}

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
