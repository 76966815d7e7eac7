import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { ModalView, Reply } from '../../core/message.ts';
import {
  isAsleep,
  isPersonal,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
} from '../../records/schedules.ts';
import { deliver } from '../../scheduler/deliver.ts';
import { pauseSchedule, removeSchedules } from '../../scheduler/schedules/lifecycle.ts';
import { resumeSchedule, SCHEDULE_TYPES, undoRemoval } from '../../scheduler/schedules/start.ts';
import { withoutElement } from '../../views/blocks/message.ts';
import {
  LIST_SCOPES,
  type ListScope,
  type OpenedFrom,
  restoredCard,
  SCHEDULE_FACES,
  type ScheduleChange,
  type ScheduleFace,
  whyPaused,
} from '../../views/schedules/schedule.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import {
  type Action,
  type ActionContext,
  type Command,
  type CommandContext,
  type CommandSpec,
  channelOf,
  defineCommand,
  fromButton,
} from '../command.ts';
import {
  announce,
  announceResumed,
  changeCard,
  describe,
  expectAllowedThere,
  recordChange,
  redrawPosted,
  removalCard,
  resolveSchedule,
} from './changes.ts';
import { listSchedules } from './lists.ts';

/** A change that words and buttons make to a schedule. */
export interface Operation {
  verb: string;
  /** The name of the command that it belongs to. */
  command: string;
  /** Its name in the audit log; left out, the command. */
  audited?: string;
  done: ScheduleChange['done'];
  /** Chooses the schedule if none is named. */
  fits?(schedule: Schedule): boolean;
  /** @returns the schedule as it is then; undefined if it was removed meanwhile */
  change(context: CommandContext, schedule: Schedule): Promise<Schedule | undefined>;
}

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
export function scheduleCommands(kind: ScheduleKind, snoozing?: Operation) {
  const face: ScheduleFace = SCHEDULE_FACES[kind];
  const { noun, role, commands, names } = face;
  const removal = removing(kind);
  const commandOf = (operation: Operation, summary: string, others: readonly Action[]): Command =>
    defineCommand({
      name: operation.command,
      summary,
      usage: `[${[...names, ...(operation === removal ? ['all'] : [])].join('|')}]`,
      role,
      durable: true,
      rest: true,
      args: Args,
      run: ({ named }, context) => changeNamed(kind, operation, context, named),
      actions: [createButton(kind, operation), ...others],
    });
  const list = defineCommand({
    name: commands.list,
    summary: `Lists this channel’s ${face.plural}: ${face.listed}`,
    usage: '[here|all]',
    role: role === 'operator' ? 'member' : role,
    args: z.object({ scope: z.string().toLowerCase().pipe(z.enum(LIST_SCOPES)).default('here') }),
    run: async ({ scope }, context) => ({
      kind: 'private',
      message: await listSchedules(kind, context, scope, { isWhole: true }),
    }),
    actions: [shareAction(kind)],
  });
  return {
    list,
    pause: commandOf(pausing(kind), `Pauses a ${noun}`, snoozing ? [createButton(kind, snoozing)] : []),
    resume: commandOf(resuming(kind), `Resumes a ${noun}, also one that Deckhand paused`, []),
    remove: commandOf(removal, `Removes a ${noun}, with “Undo” for 10 minutes`, [undoAction(kind)]),
  };
}

/** What one person sees, for the whole channel. */
function shareAction(kind: ScheduleKind): Action {
  return {
    actionId: `${kind}:share`,
    role: SCHEDULE_FACES[kind].role,
    once: true,
    durable: true,
    async run(value, context) {
      const { scope } = fromButton(ShareButton, value);
      const channel = channelOf(context);
      const message = await listSchedules(kind, context, scope, { isShared: true });
      // Posted before the reply, so that where Slack refuses the button can be pressed again.
      await deliver(context.workspace, { id: `shared ${context.caller.requestId}`, channel, message });
      return { kind: 'replace', message, audit: { what: `${kind} share` } };
    },
  };
}

async function changeNamed(
  kind: ScheduleKind,
  operation: Operation,
  context: CommandContext,
  named: string | undefined,
): Promise<Reply> {
  const { command, audited = command, done, fits } = operation;
  if (done === 'removed' && named?.toLowerCase() === 'all') return removeHere(kind, context);
  const schedule = await resolveSchedule(kind, context, named, { done, fits });
  const changed = await carryOut(operation, context, schedule);
  const reply =
    done === 'resumed'
      ? await announceResumed(context, changed, schedule.state)
      : await announce(context, changed, changeCard(changed, done, context), true);
  await recordChange(context, audited, changed);
  return reply;
}

/** The change, where the schedule's own channel allows it. */
async function carryOut(
  { command, change }: Operation,
  context: CommandContext,
  schedule: Schedule,
): Promise<Schedule> {
  await expectAllowedThere(context, schedule, command);
  const changed = await change(context, schedule);
  if (changed === undefined) throw removedSince(schedule);
  return changed;
}

/** A button that changes a schedule, and updates its message. */
function createButton(kind: ScheduleKind, operation: Operation): Action {
  const { verb, command, audited = command, done } = operation;
  return {
    actionId: `${kind}:${verb}`,
    durable: true,
    change: audited,
    async run(value, context) {
      const { id, list, isNotice } = fromButton(ScheduleButton, value);
      const schedule = await resolveSchedule(kind, context, id);
      const changed = await carryOut(operation, context, schedule);
      await recordChange(context, audited, changed);
      const card = changeCard(changed, done, context, list);
      // Of a message that only one person sees, Slack sends no content.
      const isShared = context.message !== undefined;
      const isSeen = changed.channel === context.caller.channel && (list === undefined || isShared);
      if (!isSeen) await announce(context, changed, card, true);
      const removed = done === 'removed' ? card : undefined;
      if (list !== undefined)
        return { kind: 'replace', message: await listSchedules(kind, context, list, { removed, isShared }) };
      if (isNotice && context.message !== undefined) {
        const { text, blocks } = withoutElement(context.message, { value });
        return { kind: 'replace', message: { text, blocks: [...blocks, ...card.blocks.slice(0, 1)] } };
      }
      const redrawn = context.message && redrawPosted(context.message, changed, done, context);
      return { kind: 'replace', message: redrawn ?? card };
    },
  };
}

function pausing(kind: ScheduleKind): Operation {
  return {
    verb: 'pause',
    command: `${kind} pause`,
    done: 'paused',
    fits: (schedule) => !isAsleep(schedule),
    async change({ caller, workspace }, schedule) {
      const causeId = caller.requestId;
      const paused = await pauseSchedule(workspace, schedule, {
        kind: 'paused',
        cause: 'person',
        reason: 'somebody paused it',
        by: caller.user,
        at: workspace.clock.now(),
        causeId,
      });
      if (paused?.state.kind === 'paused' && paused.state.causeId !== causeId) {
        const why = whyPaused(paused.state);
        throw new UserError(`Already paused ${why}: ${describeSchedule(schedule)}.`);
      }
      return paused;
    },
  };
}

function resuming(kind: ScheduleKind): Operation {
  return {
    verb: 'resume',
    command: `${kind} resume`,
    done: 'resumed',
    fits: isAsleep,
    async change({ workspace }, schedule) {
      if (!isAsleep(schedule))
        throw new UserError(`Nothing to resume: ${describeSchedule(schedule)} is not paused.`);
      const prepared = await SCHEDULE_TYPES[kind].prepareResume(workspace, schedule);
      return resumeSchedule(workspace, schedule, { prepared });
    },
  };
}

function removing(kind: ScheduleKind): Operation {
  return {
    verb: 'remove',
    command: SCHEDULE_FACES[kind].commands.remove,
    done: 'removed',
    async change({ caller, workspace }, schedule) {
      await removeSchedules(workspace, [schedule], caller.requestId);
      return schedule;
    },
  };
}

/** Removes this channel's schedules. @param isMeant which of them; all if left out */
export async function removeHere(
  kind: ScheduleKind,
  context: CommandContext,
  isMeant: (schedule: Schedule) => boolean = () => true,
): Promise<Reply> {
  const { caller, workspace } = context;
  const { commands, plural } = SCHEDULE_FACES[kind];
  const all: readonly Schedule[] = await workspace.schedules.list(kind);
  const here = all.filter((one) => one.channel === caller.channel && !isPersonal(one) && isMeant(one));
  const [first] = here;
  if (first === undefined) throw new UserError(`This channel has no ${plural}.`, commands.add);
  await removeSchedules(workspace, here, caller.requestId);
  for (const schedule of here) await recordChange(context, commands.remove, schedule);
  return announce(context, first, removalCard(here, context), true);
}

export function removedSince(schedule: Schedule): UserError {
  const { list } = SCHEDULE_FACES[schedule.kind].commands;
  return new UserError(`Removed in the meantime: ${describeSchedule(schedule)}.`, list);
}

function undoAction(kind: ScheduleKind): Action {
  const { commands } = SCHEDULE_FACES[kind];
  const change = `${kind} undo`;
  return {
    actionId: `${kind}:undo`,
    durable: true,
    change,
    async run(value, context) {
      const { removal, list } = fromButton(UndoButton, value);
      const restored = await undoRemoval(
        context.workspace,
        kind,
        { removedBy: removal, undoneBy: context.caller.requestId },
        ({ channel }) => expectAllowedThere(context, { kind, channel }, commands.remove),
      );
      if (restored === undefined)
        throw new UserError('A removal can be undone once, within 10 minutes.', commands.add);
      for (const schedule of restored) await recordChange(context, change, schedule);
      const card = restoredCard(restored.map(describe), context.caller.user);
      if (list === undefined) return { kind: 'replace', message: card };
      const isShared = context.message !== undefined;
      return { kind: 'replace', message: await listSchedules(kind, context, list, { isShared }) };
    },
  };
}

/**
 * `edit` of a kind, by words and by button: both open the form, filled in.
 * @param openForm gets the message whose button it was
 */
export function editCommand<K extends ScheduleKind>(
  kind: K,
  openForm: (context: CommandContext, schedule: ScheduleOf<K>, from?: OpenedFrom) => Promise<ModalView>,
): CommandSpec<z.infer<typeof Args>> {
  const { names, noun, role } = SCHEDULE_FACES[kind];
  const name = `${kind} edit`;
  const open = async (context: CommandContext, named?: string, from?: OpenedFrom): Promise<Reply> => {
    const schedule = await resolveSchedule(kind, context, named, { done: 'edited' });
    await expectAllowedThere(context, schedule, name);
    return { kind: 'modal', view: await openForm(context, schedule, from) };
  };
  return {
    name,
    summary: `Changes a ${noun} in a form`,
    usage: `[${names.join('|')}]`,
    role,
    needsAccount: true,
    takesAccount: false,
    rest: true,
    args: Args,
    run: ({ named }, context) => open(context, named),
    actions: [
      {
        actionId: `${kind}:edit`,
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
