import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { ModalView } from '../../core/message.ts';
import type { Reply } from '../../core/reply.ts';
import type { Schedule } from '../../records/schedules.ts';
import { deliver } from '../../scheduler/deliver.ts';
import {
  pauseSchedule,
  removeSchedules,
  resumeSchedule,
  undoRemoval,
} from '../../scheduler/schedules/lifecycle.ts';
import { withoutElement } from '../../views/blocks/message.ts';
import {
  LIST_SCOPES,
  type ListScope,
  nameOf,
  type OpenedFrom,
  restoredCard,
  whyPaused,
} from '../../views/schedules/schedule.ts';
import {
  type Action,
  type ActionContext,
  type Command,
  type CommandContext,
  type CommandSpec,
  defineCommand,
  fromButton,
} from '../command.ts';
import { channelOf } from '../resolve-target.ts';
import {
  announce,
  announceResumed,
  cardOf,
  described,
  expectAllowedThere,
  isAsleep,
  listOf,
  type Operation,
  recordChange,
  removedCardOf,
  resolveSchedule,
  type ScheduleFeature,
} from './feature.ts';

const Args = z.object({ named: z.string().optional() });

/** A button's schedule, and the list it stands in, if it does. */
export const ScheduleButton = z.object({
  id: z.string(),
  list: z.enum(LIST_SCOPES).optional(),
  /** True on the notice to the person whose schedules Deckhand paused. */
  isNotice: z.boolean().optional(),
});
const ShareButton = z.object({ scope: z.enum(LIST_SCOPES) });
const UndoButton = z.object({ removal: z.string(), list: z.enum(LIST_SCOPES).optional() });

/** `list`, `pause`, `resume` and `remove` of a kind, with their buttons and "Undo". */
export function scheduleCommands<R>(feature: ScheduleFeature<R>) {
  const { face, matches, snoozing } = feature;
  const { noun, role, commands } = face;
  const removal = removing(feature);
  const commandOf = (operation: Operation<R>, summary: string, others: readonly Action[]): Command =>
    defineCommand({
      name: operation.command,
      summary,
      usage: `[${['id', ...(matches ? ['project'] : []), ...(operation === removal ? ['all'] : [])].join('|')}]`,
      role,
      durable: true,
      rest: true,
      args: Args,
      run: ({ named }, context) => changeNamed(feature, operation, context, named),
      actions: [actionOf(feature, operation), ...others],
    });
  const list = defineCommand({
    name: commands.list,
    summary: `Lists this channel’s ${face.plural}: ${face.listed}`,
    usage: '[here|all]',
    role: role === 'operator' ? 'member' : role,
    args: z.object({ scope: z.string().toLowerCase().pipe(z.enum(LIST_SCOPES)).default('here') }),
    run: async ({ scope }, context) => ({ kind: 'private', message: await listOf(feature, context, scope) }),
    actions: [shareAction(feature)],
  });
  return {
    list,
    pause: commandOf(pausing(feature), `Pauses a ${noun}`, snoozing ? [actionOf(feature, snoozing)] : []),
    resume: commandOf(resuming(feature), `Resumes a ${noun}, also one that Deckhand paused`, []),
    remove: commandOf(removal, `Removes a ${noun}, with “Undo” for 10 minutes`, [undoAction(feature)]),
  };
}

/** What one person sees, for the whole channel. */
function shareAction<R>(feature: ScheduleFeature<R>): Action {
  const { prefix, role } = feature.face;
  return {
    actionId: `${prefix}:share`,
    role,
    once: true,
    durable: true,
    async run(value, context) {
      const { scope } = fromButton(ShareButton, value);
      const channel = channelOf(context);
      const message = await listOf(feature, context, scope, { isShared: true });
      // Posted before the reply, so that where Slack refuses the button can be pressed again.
      await deliver(context.workspace, { id: `shared ${context.caller.requestId}`, channel, message });
      return { kind: 'replace', message, audit: { what: `${prefix} share` } };
    },
  };
}

async function changeNamed<R>(
  feature: ScheduleFeature<R>,
  operation: Operation<R>,
  context: CommandContext,
  named: string | undefined,
): Promise<Reply> {
  const { command, audited = command, done, fits } = operation;
  if (done === 'removed' && named?.toLowerCase() === 'all') return removeHere(feature, context);
  const schedule = await resolveSchedule(feature, context, named, fits);
  const changed = await carryOut(feature, operation, context, schedule);
  const reply =
    done === 'resumed'
      ? await announceResumed(feature, context, changed, schedule.state)
      : await announce(context, changed, cardOf(feature, changed, done, context), true);
  await recordChange(context, audited, changed);
  return reply;
}

/** The change, where the schedule's own channel allows it. */
async function carryOut<R>(
  feature: ScheduleFeature<R>,
  { command, change }: Operation<R>,
  context: CommandContext,
  schedule: Schedule<R>,
): Promise<Schedule<R>> {
  await expectAllowedThere(feature, context, schedule, command);
  const changed = await change(context, schedule);
  if (changed === undefined) throw removedSince(feature, schedule);
  return changed;
}

/** A button that changes a schedule: the message that it stands on is drawn anew. */
function actionOf<R>(feature: ScheduleFeature<R>, operation: Operation<R>): Action {
  const { face, note, redraw } = feature;
  const { verb, command, audited = command, done } = operation;
  return {
    actionId: `${face.prefix}:${verb}`,
    durable: true,
    change: audited,
    async run(value, context) {
      const { id, list, isNotice } = fromButton(ScheduleButton, value);
      const schedule = await resolveSchedule(feature, context, id);
      const changed = await carryOut(feature, operation, context, schedule);
      await recordChange(context, audited, changed);
      const card = cardOf(feature, changed, done, context, list);
      // Of a message that only one person sees, Slack sends no content.
      const isShared = context.message !== undefined;
      const isSeen = changed.channel === context.caller.channel && (list === undefined || isShared);
      if (!isSeen) await announce(context, changed, card, true);
      const removed = done === 'removed' ? card : undefined;
      if (list !== undefined)
        return { kind: 'replace', message: await listOf(feature, context, list, { removed, isShared }) };
      if (isNotice && context.message !== undefined) {
        const { text, blocks } = withoutElement(context.message, { value });
        return { kind: 'replace', message: { text, blocks: [...blocks, ...card.blocks.slice(0, 1)] } };
      }
      const { record } = changed;
      const made = { done, user: context.caller.user, note: note?.(record, done, context) };
      const redrawn = context.message && redraw?.(context.message, record, made, context);
      return { kind: 'replace', message: redrawn ?? card };
    },
  };
}

function pausing<R>(feature: ScheduleFeature<R>): Operation<R> {
  return {
    verb: 'pause',
    command: `${feature.face.prefix} pause`,
    done: 'paused',
    fits: (schedule) => !isAsleep(feature, schedule),
    async change(context, schedule) {
      const { caller, workspace } = context;
      const causeId = caller.requestId;
      const paused = await pauseSchedule(workspace, feature.kind, schedule, {
        kind: 'paused',
        cause: 'person',
        reason: 'somebody paused it',
        by: caller.user,
        at: workspace.clock.now(),
        causeId,
      });
      if (paused?.state.kind === 'paused' && paused.state.causeId !== causeId) {
        const why = whyPaused(paused.state);
        throw new UserError(`Already paused ${why}: ${nameOf(described(feature, schedule))}.`);
      }
      return paused;
    },
  };
}

function resuming<R>(feature: ScheduleFeature<R>): Operation<R> {
  return {
    verb: 'resume',
    command: `${feature.face.prefix} resume`,
    done: 'resumed',
    fits: (schedule) => isAsleep(feature, schedule),
    async change(context, schedule) {
      const { workspace } = context;
      if (!isAsleep(feature, schedule))
        throw new UserError(`Nothing to resume: ${nameOf(described(feature, schedule))} is not paused.`);
      const prepared = await feature.kind.prepareResume(workspace, schedule);
      return resumeSchedule(workspace, feature.kind, schedule, { prepared });
    },
  };
}

function removing<R>({ face, kind }: ScheduleFeature<R>): Operation<R> {
  return {
    verb: face.remove.verb,
    command: face.commands.remove,
    done: 'removed',
    async change({ caller, workspace }, schedule) {
      await removeSchedules(workspace, kind, [schedule], caller.requestId);
      return schedule;
    },
  };
}

/** Removes this channel's schedules. @param isMeant which of them; all if left out */
export async function removeHere<R>(
  feature: ScheduleFeature<R>,
  context: CommandContext,
  isMeant: (schedule: Schedule<R>) => boolean = () => true,
): Promise<Reply> {
  const { caller, workspace } = context;
  const { kind, face } = feature;
  const all = await kind.list(workspace);
  const here = all.filter((one) => one.channel === caller.channel && isMeant(one));
  const [first] = here;
  if (first === undefined) throw new UserError(`This channel has no ${face.plural}.`, face.commands.add);
  await removeSchedules(workspace, kind, here, caller.requestId);
  for (const schedule of here) await recordChange(context, face.commands.remove, schedule);
  return announce(context, first, removedCardOf(feature, here, context), true);
}

export function removedSince<R>(feature: ScheduleFeature<R>, schedule: Schedule<R>): UserError {
  const { list } = feature.face.commands;
  return new UserError(`Removed in the meantime: ${nameOf(described(feature, schedule))}.`, list);
}

function undoAction<R>(feature: ScheduleFeature<R>): Action {
  const { face, kind } = feature;
  const change = `${face.prefix} undo`;
  return {
    actionId: `${face.prefix}:undo`,
    durable: true,
    change,
    async run(value, context) {
      const { removal, list } = fromButton(UndoButton, value);
      const restored = await undoRemoval(
        context.workspace,
        kind,
        { removedBy: removal, undoneBy: context.caller.requestId },
        (there) => expectAllowedThere(feature, context, there, face.commands.remove),
      );
      if (restored === undefined)
        throw new UserError('A removal can be undone once, within 10 minutes.', face.commands.add);
      for (const schedule of restored) await recordChange(context, change, schedule);
      const all = restored.map((schedule) => described(feature, schedule));
      const card = restoredCard(all, context.caller.user);
      if (list === undefined) return { kind: 'replace', message: card };
      const isShared = context.message !== undefined;
      return { kind: 'replace', message: await listOf(feature, context, list, { isShared }) };
    },
  };
}

/**
 * `edit` of a kind, by words and by button: both open the form, filled in.
 * @param formOf is told the message whose button it was
 */
export function editCommand<R>(
  feature: ScheduleFeature<R>,
  formOf: (context: CommandContext, schedule: Schedule<R>, from?: OpenedFrom) => Promise<ModalView>,
): CommandSpec<z.infer<typeof Args>> {
  const { prefix, noun, role } = feature.face;
  const name = `${prefix} edit`;
  const open = async (context: CommandContext, named?: string, from?: OpenedFrom): Promise<Reply> => {
    const schedule = await resolveSchedule(feature, context, named);
    await expectAllowedThere(feature, context, schedule, name);
    return { kind: 'modal', view: await formOf(context, schedule, from) };
  };
  return {
    name,
    summary: `Changes a ${noun} in a form`,
    usage: feature.matches === undefined ? '[id]' : '[id|project]',
    role,
    needsAccount: true,
    takesAccount: false,
    rest: true,
    args: Args,
    run: ({ named }, context) => open(context, named),
    actions: [
      {
        actionId: `${prefix}:edit`,
        async run(value, context) {
          const { id, list } = fromButton(ScheduleButton, value);
          return open(context, id, messageOf(context, list));
        },
      },
    ],
  };
}

/** Of a message that only the person sees, Slack sends no content, and Deckhand cannot edit it. */
function messageOf({ caller, message }: ActionContext, list: ListScope | undefined): OpenedFrom | undefined {
  const { channel, messageTs: ts } = caller;
  return message && channel !== undefined && ts !== undefined ? { channel, ts, list } : undefined;
}
