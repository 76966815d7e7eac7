import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code, count } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { pauseWatch, resumeWatch } from '../../scheduler/watches/change.ts';
import { say } from '../../views/blocks/message.ts';
import { stoppedMessage, WATCH_LISTS, watchCard } from '../../views/watches/watch.ts';
import { listWatches, type PlacedWatch, removeWatch } from '../../workspace/watches.ts';
import type { Action, ActionContext, Command, CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { drawList } from './list.ts';
import { watchOf } from './resolve-watch.ts';
import { recordWatch } from './watch.ts';

const Args = z.object({ named: z.string().optional() });

/** A button's watch, and the list it stands in, if it does. */
const ButtonValue = z.object({ id: z.string(), list: z.enum(WATCH_LISTS).optional() });

/** @returns what the channel sees of it */
type Change = (context: CommandContext, placed: PlacedWatch) => Promise<Message>;

export const watchPause = defineCommand({
  ...commandOf('pause', 'Pauses a watch; the id may be left out where the channel has one', pause),
  actions: [actionOf('pause', pause)],
});

export const watchResume = defineCommand({
  ...commandOf('resume', 'Resumes a watch, also one that paused because something went wrong', resume),
  actions: [actionOf('resume', resume)],
});

export const unwatch = defineCommand({
  name: 'unwatch',
  summary: 'Stops a watch of this channel, or all of them',
  usage: '[id|project|all]',
  examples: ['unwatch', 'unwatch w7k2', 'unwatch storefront', 'unwatch all'],
  role: 'operator',
  needsAccount: false,
  durable: true,
  positionals: ['named'],
  rest: true,
  args: Args,
  async run({ named }, context) {
    if (named?.toLowerCase() === 'all') return stopAll(context);
    return { kind: 'channel', message: await stop(context, await watchOf(context, named)) };
  },
  actions: [actionOf('stop', stop)],
});

function commandOf(verb: 'pause' | 'resume', summary: string, change: Change): Command<z.infer<typeof Args>> {
  const wanted = verb === 'pause' ? 'active' : 'paused';
  return {
    name: `watch ${verb}`,
    summary,
    usage: '[id|project]',
    role: 'operator',
    needsAccount: false,
    durable: true,
    positionals: ['named'],
    rest: true,
    args: Args,
    async run({ named }, context) {
      const placed = await watchOf(context, named, ({ watch }) => watch.state.kind === wanted);
      return toChannel(context, placed, await change(context, placed));
    },
  };
}

function actionOf(verb: string, change: Change): Action {
  return {
    actionId: `watch:${verb}`,
    role: 'operator',
    durable: true,
    run: (value, context) => pressed(value, context, change),
  };
}

/** Its list, or the watch's own message, is drawn anew. */
async function pressed(value: string | undefined, context: ActionContext, change: Change): Promise<Reply> {
  const { id, list } = ButtonValue.parse(JSON.parse(value ?? '{}'));
  const message = await change(context, await watchOf(context, id));
  return { kind: 'replace', message: list === undefined ? message : await drawList(context, list) };
}

/** The channel that is told hears of it; whoever asked from elsewhere reads it too. */
async function toChannel(context: CommandContext, placed: PlacedWatch, message: Message): Promise<Reply> {
  const { caller, workspace } = context;
  if (placed.channel === caller.channel) return { kind: 'channel', message };
  const { requestId } = caller;
  await deliver(workspace, {
    id: `watch ${requestId}`,
    channel: placed.channel,
    message,
  });
  return { kind: 'private', message };
}

async function pause(context: CommandContext, placed: PlacedWatch): Promise<Message> {
  const { caller, workspace } = context;
  const paused = await pauseWatch(workspace, placed, caller.user);
  await recordWatch(context, 'watch pause', placed);
  return watchCard(paused, `<@${caller.user}> paused it`, workspace.config.SLACK_COMMAND);
}

async function resume(context: CommandContext, placed: PlacedWatch): Promise<Message> {
  const { caller, workspace } = context;
  const resumed = await resumeWatch(workspace, placed);
  await recordWatch(context, 'watch resume', placed);
  return watchCard(resumed, `<@${caller.user}> resumed it`, workspace.config.SLACK_COMMAND);
}

async function stop(context: CommandContext, placed: PlacedWatch): Promise<Message> {
  const { caller, workspace } = context;
  await removeWatch(workspace.store, placed);
  await recordWatch(context, 'unwatch', placed);
  return stoppedMessage(placed, caller.user);
}

async function stopAll(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const all = await listWatches(workspace.store);
  const here = all.filter(({ channel }) => channel === caller.channel);
  if (here.length === 0) throw new UserError('Nothing is watched in this channel.', 'watch all failures');
  for (const placed of here) await stop(context, placed);
  const ids = here.slice(0, 20).map(({ watch }) => code(watch.id));
  const said = `:no_bell: <@${caller.user}> stopped ${count(here.length, 'watch', 'watches')}: ${ids.join(', ')}.`;
  return { kind: 'channel', message: say(said) };
}
