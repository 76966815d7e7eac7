import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { type SetUp, setUpWatch } from '../../scheduler/watches/change.ts';
import { say } from '../../views/blocks/message.ts';
import { watchCard, watchWords } from '../../views/watches/watch.ts';
import type { Account } from '../../workspace/accounts.ts';
import { type PlacedWatch, removeWatch, type Watch } from '../../workspace/watches.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { accountOf, channelOf, projectOf } from '../resolve-target.ts';
import { readWatchWords, type WatchWords } from './parse-watch-arguments.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Tells this channel what happens in a project or in all: everything, what fails, or what turns',
  usage: '[project|all] [all|failures|transitions]',
  examples: ['watch storefront failures', 'watch all transitions'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  positionals: ['words'],
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async run({ words }, context) {
    const { caller, workspace } = context;
    const asked = readWatchWords(words?.split(' ') ?? []);
    const setUp = await setUpWatch(workspace, {
      channel: channelOf(context),
      ...(await targetOf(asked, context)),
      mode: asked.mode ?? 'all',
      user: caller.user,
      requestId: caller.requestId,
    });
    if (setUp.kind === 'same') return { kind: 'private', message: sameMessage(setUp.placed) };
    await announce(setUp, context);
    await recordWatch(context, 'watch', setUp.placed);
    return { kind: 'nothing' } satisfies Reply;
  },
});

async function targetOf(
  words: WatchWords,
  context: CommandContext,
): Promise<{ account: Account; project: Watch['project'] }> {
  if (words.isAll) return { account: await accountOf(context), project: undefined };
  const { account, project } = await projectOf(context, words.project);
  const { permalink, identifier, name } = project;
  return { account, project: { permalink, identifier, name: name.slice(0, 200) } };
}

const DONE: Readonly<Record<Exclude<SetUp['kind'], 'same'>, string>> = {
  new: 'set it up',
  changed: 'changed it',
  resumed: 'resumed it',
};

/** Posted here and not by the front door, so that what cannot be told is not watched either. */
async function announce({ kind, placed }: SetUp, { caller, workspace }: CommandContext): Promise<void> {
  if (kind === 'same') return;
  const { user, requestId } = caller;
  const message = watchCard(placed, `<@${user}> ${DONE[kind]}`, workspace.config.SLACK_COMMAND);
  try {
    await deliver(workspace, {
      id: `watch ${requestId}`,
      channel: placed.channel,
      message,
    });
  } catch (error) {
    if (kind === 'new') await removeWatch(workspace.store, placed);
    throw error;
  }
}

function sameMessage(placed: PlacedWatch): Message {
  return say(
    `:eyes: This channel is told that already, by the watch ${code(placed.watch.id)}: ${watchWords(placed)}.`,
  );
}

export function recordWatch(
  { caller, workspace }: CommandContext,
  what: string,
  { watch: { id }, channel }: PlacedWatch,
): Promise<void> {
  const { user } = caller;
  return workspace.audit.record({ who: user, what, where: channel, target: id, result: 'done' });
}
