import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { roundsOf } from '../../scheduler/schedules/poller.ts';
import { WATCH_BEAT } from '../../scheduler/watches/schedule.ts';
import {
  type ListedWatch,
  WATCH_LISTS,
  type WatchList,
  watchListMessage,
} from '../../views/watches/watch.ts';
import { listWatches } from '../../workspace/watches.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';

export const watchList = defineCommand({
  name: 'watch list',
  summary: 'Lists this channel’s watches: who set them up, when, and what came of them',
  usage: '[all]',
  role: 'operator',
  needsAccount: false,
  positionals: ['list'],
  args: z.object({ list: z.string().toLowerCase().pipe(z.enum(WATCH_LISTS)).optional() }),
  async run({ list }, context) {
    return { kind: 'channel', message: await drawList(context, list ?? 'here') };
  },
});

export async function drawList({ caller, workspace }: CommandContext, list: WatchList): Promise<Message> {
  const { channel: here } = caller;
  const all = await listWatches(workspace.store);
  const shown = list === 'all' ? all : all.filter(({ channel }) => channel === here);
  const accounts = [...new Set(shown.map(({ account }) => account))];
  const rounds = await Promise.all(
    accounts.map(async (account) => [account, await roundsOf(workspace.store, WATCH_BEAT, account)] as const),
  );
  const byAccount = new Map(rounds);
  const listed = shown.map((placed): ListedWatch => {
    const { lookedAt, failures = 0 } = byAccount.get(placed.account) ?? {};
    return { ...placed, lookedAt, failures };
  });
  const elsewhere = all.length - shown.length;
  return watchListMessage(listed, { list, elsewhere, word: workspace.config.SLACK_COMMAND });
}
