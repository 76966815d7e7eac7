import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { pollStatus } from '../../scheduler/schedules/poller.ts';
import { WATCH_FEED } from '../../scheduler/watches/feed.ts';
import { WATCHES } from '../../scheduler/watches/schedule.ts';
import { SCHEDULE_FACES } from '../../views/schedules/card.ts';
import { LIST_SCOPES, type ListScope } from '../../views/schedules/list.ts';
import { watchListMessage, watchWords } from '../../views/watches/watch.ts';
import { isNamed } from '../../workspace/projects.ts';
import { listWatches, type PlacedWatch } from '../../workspace/watches.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import type { ScheduleFeature } from '../schedules/feature.ts';
import { scheduleCommands } from '../schedules/lifecycle.ts';

/** Watches, as people meet them. */
export const WATCH_FEATURE: ScheduleFeature<PlacedWatch> = {
  kind: WATCHES,
  face: SCHEDULE_FACES.watch,
  role: 'operator',
  words: watchWords,
  matches: ({ watch: { project } }, wanted) => project !== undefined && isNamed(project, wanted),
  list: listWatchesOf,
};

async function listWatchesOf(
  { caller, workspace }: CommandContext,
  scope: ListScope,
  removed?: Message,
): Promise<Message> {
  const { store, config } = workspace;
  const all = await listWatches(store);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === caller.channel);
  const accounts = [...new Set(listed.map(({ account }) => account))];
  const polling = new Map(
    await Promise.all(
      accounts.map(
        async (account) => [account, await pollStatus(store, WATCH_FEED.interval, account)] as const,
      ),
    ),
  );
  return watchListMessage(
    listed.map((placed) => ({ ...placed, ...(polling.get(placed.account) ?? { failures: 0 }) })),
    { scope, elsewhere: all.length - listed.length, word: config.SLACK_COMMAND, removed },
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
  name: 'watch list',
  summary: 'Lists this channel’s watches: who set them up, when, and what came of them',
  usage: '[all]',
  role: 'operator',
  args: z.object({ scope: z.string().toLowerCase().pipe(z.enum(LIST_SCOPES)).optional() }),
  async run({ scope }, context) {
    return { kind: 'channel', message: await listWatchesOf(context, scope ?? 'here') };
  },
});
