import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import { type CardReply, type Invocation, isDirect, type Reply } from '../../core/message.ts';
import { channelCards } from '../../records/channel-cards.ts';
import type { Subject } from '../../records/episodes.ts';
import { isAsleep, isPersonal, type Schedule, type ScheduleKind } from '../../records/schedules.ts';
import { SCHEDULE_TYPES } from '../../scheduler/schedule-types.ts';
import { pauseSchedule } from '../../scheduler/schedules/pause-schedule.ts';
import { removeSchedules, undoRemoval } from '../../scheduler/schedules/remove-schedules.ts';
import { resumeSchedule } from '../../scheduler/schedules/start-schedule.ts';
import { tellStopped } from '../../scheduler/setup/tell-stopped.ts';
import { withoutElement } from '../../views/blocks/make-blocks.ts';
import { SCHEDULE_FACES, type ScheduleFace } from '../../views/schedules/faces.ts';
import {
  LIST_SCOPES,
  RemoveOrigin,
  removeModal,
  restoredAnswer,
  type ScheduleChange,
  whyPaused,
} from '../../views/schedules/schedule.ts';
import { describeSchedule, resumeCommand } from '../../views/schedules/words.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, type ActionContext, defineButton } from '../action.ts';
import { type Command, defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import type { Submission } from '../submission.ts';
import { isEverything } from '../targets/targets.ts';
import { parseButton, parseForm } from '../values.ts';
import { type DoneChange, replyWithChange, retireCard } from './change-replies.ts';
import { schedulePhrases } from './schedule-phrases.ts';
import {
  createRemovedError,
  expectAllowedThere,
  isNamedByProject,
  listSchedules,
  redrawPosted,
  resolveSchedule,
} from './schedule-replies.ts';

/** A change of a schedule, by words and by a button. */
export interface Operation {
  verb: string;
  command: string;
  /** Its name in the audit log; left out, the command. */
  audited?: string;
  done: ScheduleChange['done'];
  /** Chooses the schedule if none is named. */
  fits?(schedule: Schedule): boolean;
  /** Returns undefined if the schedule was removed in the meantime. */
  change(context: CommandContext, schedule: Schedule): Promise<Changed | undefined>;
}

interface Changed {
  schedule: Schedule;
  /** Open failures that it followed, if it follows nothing any more. */
  open?: readonly Subject[];
}

const Args = z.object({ nameOrId: z.string().optional() });

/** Value of a schedule's button. */
export const ScheduleButton = z.object({
  id: z.string(),
  /** The list with the button; undefined on a card. */
  list: z.enum(LIST_SCOPES).optional(),
  /** True on the message that tells a person about a paused schedule. */
  isNotice: z.boolean().optional(),
});
interface ScheduleButton extends z.infer<typeof ScheduleButton> {}
const UndoButton = z.object({ removal: z.string() });

/** `list`, `pause`, `resume` and `remove` of a kind, with their buttons and "Undo". */
export function scheduleCommands(kind: ScheduleKind, snoozing?: Operation) {
  const face: ScheduleFace = SCHEDULE_FACES[kind];
  const { noun, role, commands, names, phrase, synonyms } = face;
  const commandFor = (
    operation: Operation,
    summary: string,
    others: Pick<Command, 'actions' | 'submissions'> = {},
  ): Command =>
    defineCommand({
      name: operation.command,
      phrase,
      shownAs: operation.command.split(' ')[0] ?? kind,
      synonyms: operation.done === 'removed' ? (synonyms.remove ?? []) : [],
      phrases: schedulePhrases(
        kind,
        operation.done === 'paused' ? 'pause' : operation.done === 'removed' ? 'remove' : 'resume',
      ),
      summary,
      usage: `[${[...names, ...(operation.done === 'removed' ? ['all'] : [])].join('|')}]`,
      role,
      durable: true,
      rest: true,
      args: Args,
      handle: ({ nameOrId }, context) => changeNamed(kind, operation, context, nameOrId),
      actions: [createButton(kind, operation), ...(others.actions ?? [])],
      submissions: others.submissions ?? [],
    });
  const list = defineCommand({
    name: commands.list,
    phrase,
    shownAs: kind,
    synonyms: synonyms.list ?? [],
    ...defined({ alone: synonyms.alone }),
    phrases: schedulePhrases(kind, 'list'),
    summary: `Lists this channel’s ${face.plural}: ${face.listed}`,
    usage: '[here|all]',
    role: role === 'operator' ? 'member' : role,
    args: z.object({ scope: z.string().toLowerCase().pipe(z.enum(LIST_SCOPES)).default('here') }),
    handle: async ({ scope }, context) =>
      replyPrivately(await listSchedules(kind, context, scope, { isWhole: true })),
  });
  const snooze = snoozing === undefined ? [] : [createButton(kind, snoozing)];
  const { ask, submission } = removeForm(kind);
  const undoing = { actions: [ask, undoAction(kind)], submissions: [submission] };
  return {
    list,
    pause: commandFor(pausing(kind), `Pauses a ${noun}`, { actions: snooze }),
    resume: commandFor(resuming(kind), `Resumes a ${noun}, also one that Deckhand paused`),
    remove: commandFor(removing(kind), `Removes a ${noun}, with “Undo” for 10 minutes`, undoing),
  };
}

async function changeNamed(
  kind: ScheduleKind,
  operation: Operation,
  context: CommandContext,
  nameOrId: string | undefined,
): Promise<Reply> {
  const { command, audited = command, done, fits } = operation;
  if (
    done === 'removed' &&
    nameOrId !== undefined &&
    isEverything(nameOrId) &&
    !(await isNamedHere(kind, context, nameOrId))
  )
    return removeHere(kind, context);
  const schedule = await resolveSchedule(kind, context, nameOrId, { done, fits });
  const changed = await changeSchedule(operation, context, schedule);
  const { state } = schedule;
  // A resumed schedule that cannot post is paused again.
  const undo = async () => state.kind === 'paused' && pauseSchedule(context.workspace, schedule, state);
  const options = done === 'resumed' ? { undo } : ({ isDone: true } as const);
  return replyWithChanged(context, changed, { done, what: audited }, options);
}

/** True if a schedule of the channel is of a project that is called so. */
async function isNamedHere(kind: ScheduleKind, { invocation, workspace }: CommandContext, word: string) {
  const all: readonly Schedule[] = await workspace.schedules.list(kind);
  return all.some((one) => one.channel === invocation.channel && isNamedByProject(one, word));
}

/** Changes a schedule if its own channel allows the command. */
async function changeSchedule(
  { command, change }: Operation,
  context: CommandContext,
  schedule: Schedule,
): Promise<Changed> {
  await expectAllowedThere(context, schedule, command);
  const changed = await change(context, schedule);
  if (changed === undefined) throw createRemovedError(schedule);
  return changed;
}

async function replyWithChanged(
  context: CommandContext,
  { schedule, open }: Changed,
  change: Pick<DoneChange, 'done' | 'what'>,
  options: Pick<CardReply, 'undo' | 'isDone'>,
): Promise<CardReply> {
  await retireCard(context.workspace, schedule);
  return replyWithChange(context, { schedules: [schedule], open, ...change }, options);
}

/** A button that changes a schedule and updates its message. */
function createButton(kind: ScheduleKind, operation: Operation): Action {
  const { verb, command, audited = command, done } = operation;
  return {
    actionId: `${kind}:${verb}`,
    durable: true,
    change: audited,
    async handle(value, context) {
      const { id, list, isNotice } = parseButton(ScheduleButton, value);
      const schedule = await resolveSchedule(kind, context, id);
      const changed = await changeSchedule(operation, context, schedule);
      const change = { done, what: audited };
      const reply = await replyWithChanged(context, changed, change, { isDone: true });
      const answer = await answerClick(context, changed.schedule, reply, { done, list, isNotice, value });
      return { ...reply, answer };
    },
  };
}

/** Shows a change on the message whose button was used, too. */
async function answerClick(
  context: ActionContext,
  schedule: Schedule,
  { answer, line }: CardReply,
  click: Pick<ScheduleButton, 'list' | 'isNotice'> & { done: DoneChange['done']; value: string | undefined },
): Promise<CardReply['answer']> {
  const { message, invocation, workspace } = context;
  const { list, isNotice, done, value } = click;
  // Slack sends no content of a message that only one person sees.
  const isPosted = message !== undefined;
  if (list !== undefined) {
    // Slack may have refused the list in its channel, so that it is in a direct message.
    const channel = list === 'here' ? schedule.channel : invocation.channel;
    const there = { ...context, invocation: { ...invocation, channel } };
    const isShared = isPosted && !isDirect(invocation.channel);
    const drawn = replyInPlace(await listSchedules(schedule.kind, there, list, { isShared }));
    return done === 'removed' ? { kind: 'several', replies: [drawn, answer] } : drawn;
  }
  if (!isPosted) return answer;
  if (isNotice === true) {
    const { text, blocks } = withoutElement(message, { value });
    const own = answer.kind === 'private' ? answer.message : undefined;
    return replyInPlace({ text, blocks: [...blocks, ...(own?.blocks.slice(0, 1) ?? [])] });
  }
  const redrawn = redrawPosted(message, schedule, done, context);
  if (redrawn !== undefined) return replyInPlace(redrawn);
  if (await isChannelCard(workspace, invocation)) return answer;
  // A message of release 1.0.0 has no buttons from now on.
  return { kind: 'several', replies: [replyInPlace(line.message), answer] };
}

/** True for a click on the card of the channel, which is edited. */
async function isChannelCard(
  { store }: Workspace,
  { channel, messageTs }: Pick<Invocation, 'channel' | 'messageTs'>,
): Promise<boolean> {
  const card = channel === undefined ? undefined : await channelCards(store).get(channel);
  return card !== undefined && card.ts === messageTs;
}

/** Opens the question before a schedule is removed, and its form. */
function removeForm(kind: ScheduleKind): { ask: Action; submission: Submission } {
  const operation = removing(kind);
  const { command, done } = operation;
  const ask = defineButton(ScheduleButton, {
    actionId: `${kind}:ask`,
    async handle({ id }, context) {
      const schedule = await resolveSchedule(kind, context, id);
      await expectAllowedThere(context, schedule, command);
      const { channel } = context.invocation;
      return { kind: 'modal', view: removeModal({ id, ...defined({ channel }) }, schedule) };
    },
  });
  const submission: Submission = {
    callbackId: `${kind}.remove`,
    async submit({ metadata }, context) {
      const { id } = parseForm(RemoveOrigin, metadata);
      const schedule = await resolveSchedule(kind, context, id);
      const changed = await changeSchedule(operation, context, schedule);
      const change = { done, what: command };
      return { kind: 'close', card: await replyWithChanged(context, changed, change, { isDone: true }) };
    },
  };
  return { ask, submission };
}

function pausing(kind: ScheduleKind): Operation {
  return {
    verb: 'pause',
    command: `${kind} pause`,
    done: 'paused',
    fits: (schedule) => !isAsleep(schedule),
    async change({ invocation, workspace }, schedule) {
      const { user: requestedBy, requestId: causeId } = invocation;
      const cause = { cause: 'person', reason: 'somebody paused it', requestedBy, causeId } as const;
      const state = { kind: 'paused', at: workspace.clock.now(), ...cause } as const;
      const paused = await pauseSchedule(workspace, schedule, state);
      if (paused?.state.kind === 'paused' && paused.state.causeId !== causeId)
        throw new UserError(
          `Already paused ${whyPaused(paused.state)}: ${describeSchedule(schedule)}.`,
          resumeCommand(schedule),
        );
      const stopped = { user: requestedBy, verb: 'pause', request: causeId } as const;
      return paused && { schedule: paused, open: await tellStopped(workspace, [schedule], stopped) };
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
        throw new UserError(
          `Nothing to resume: ${describeSchedule(schedule)} is not paused.`,
          SCHEDULE_FACES[kind].commands.list,
        );
      const prepared = await SCHEDULE_TYPES[kind].prepareResume(workspace, schedule);
      const resumed = await resumeSchedule(workspace, schedule, { prepared });
      return resumed && { schedule: resumed };
    },
  };
}

function removing(kind: ScheduleKind): Operation {
  return {
    verb: 'remove',
    command: SCHEDULE_FACES[kind].commands.remove,
    done: 'removed',
    async change({ invocation, workspace }, schedule) {
      const { user, requestId: request } = invocation;
      const open = await tellStopped(workspace, [schedule], { user, verb: 'remove', request });
      await removeSchedules(workspace, [schedule], request);
      return { schedule, open };
    },
  };
}

/** Removes this channel's schedules. @param matches left out, all of them */
export async function removeHere(
  kind: ScheduleKind,
  context: CommandContext,
  matches: (schedule: Schedule) => boolean = () => true,
): Promise<Reply> {
  const { invocation, workspace } = context;
  const { commands, plural } = SCHEDULE_FACES[kind];
  const all: readonly Schedule[] = await workspace.schedules.list(kind);
  const here = all.filter((one) => one.channel === invocation.channel && !isPersonal(one) && matches(one));
  const [first, ...others] = here;
  if (first === undefined) throw new UserError(`This channel has no ${plural}.`, commands.add);
  const { user, requestId: request } = invocation;
  const open = await tellStopped(workspace, here, { user, verb: 'remove', request });
  await removeSchedules(workspace, here, request);
  for (const schedule of here) await retireCard(workspace, schedule);
  const change = { schedules: [first, ...others], done: 'removed', what: commands.remove, open } as const;
  return replyWithChange(context, change, { isDone: true });
}

function undoAction(kind: ScheduleKind): Action {
  const { commands } = SCHEDULE_FACES[kind];
  const change = `${kind} undo`;
  return defineButton(UndoButton, {
    actionId: `${kind}:undo`,
    durable: true,
    change,
    async handle({ removal: removalRequest }, context) {
      const { invocation, workspace } = context;
      const undo = { removalRequest, undoRequest: invocation.requestId };
      const restored = await undoRemoval(workspace, kind, undo, ({ channel }) =>
        expectAllowedThere(context, { kind, channel }, commands.remove),
      );
      if (restored === undefined)
        throw new UserError('A removal can be undone once, within 10 minutes.', commands.add);
      const [first, ...others] = restored;
      if (first === undefined) return replyInPlace(restoredAnswer([]));
      const done = { schedules: [first, ...others], done: 'restored', what: change } as const;
      const reply = replyWithChange(context, done, { isDone: true });
      return { ...reply, answer: replyInPlace(restoredAnswer(restored, workspace.pages)) };
    },
  });
}
