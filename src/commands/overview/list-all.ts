import { z } from 'zod';
import { UnmatchedWords } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { ChannelPage, channelTable, FAILING_FILTER } from '../../views/overview/channel-table.ts';
import { findChannel } from '../../workspace/slack-channels.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { readChannels } from './read-channels.ts';

/** Longer words filter nothing. */
const MAX_FILTER = 200;
/** Words for the channels in which something fails. */
const FAILING: ReadonlySet<string> = new Set([FAILING_FILTER, 'failed', 'failures', 'fails', 'broken']);

export const listAll = defineCommand({
  name: 'list all',
  phrase: 'shows what is set up in all channels',
  synonyms: ['watch list all', 'channels', 'list channels', 'overview'],
  summary: 'Shows what is set up in all channels as one table, with what fails',
  usage: '[word]',
  examples: ['list all', 'list all acme', 'list all failing'],
  role: 'member',
  rest: true,
  args: z.object({ word: z.string().optional() }),
  handle: async ({ word = '' }, context) =>
    replyPrivately(
      await drawPage({ filter: await readFilter(word.slice(0, MAX_FILTER), context), page: 0 }, context),
    ),
  actions: [
    defineButton(ChannelPage, {
      actionId: 'list:page',
      handle: async (page, context) => replyInPlace(await drawPage(page, context)),
    }),
  ],
});

/** The word, or the id of the channel that it names. */
async function readFilter(word: string, { workspace }: CommandContext): Promise<string> {
  // Slack gives a picked channel as <#C123|name>.
  const [, id] = /^<#([CG][A-Z0-9]+)(?:\|[^<>]*)?>$/.exec(word) ?? [];
  if (id !== undefined || word === '') return id ?? '';
  const rows = await readChannels(workspace, { filter: word, mayBill: true });
  if (rows.length === 0 && FAILING.has(word.toLowerCase())) return FAILING_FILTER;
  const channel = rows.length > 0 ? word : await findChannel(workspace.slack, word);
  if (channel === undefined)
    throw new UnmatchedWords(`Nothing is set up in any channel with ${code(word, 60)}.`, 'list all');
  return channel;
}

async function drawPage(page: ChannelPage, { invocation, workspace }: CommandContext): Promise<Message> {
  const mayBill = await workspace.roles.holds(invocation.user, 'billing');
  return channelTable(await readChannels(workspace, { filter: page.filter, mayBill }), page);
}
