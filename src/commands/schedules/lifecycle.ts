import { z } from 'zod';
import { deliver } from '../../cards/deliver.ts';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message, Reply } from '../../core/message.ts';
import { isAsleep, isPersonal, type Schedule, type ScheduleKind } from '../../records/schedules.ts';
import { SCHEDULE_TYPES } from '../../scheduler/schedule-types.ts';
import { pauseSchedule } from '../../scheduler/schedules/lifecycle.ts';
import { removeSchedules, resumeSchedule, undoRemoval } from '../../scheduler/schedules/start.ts';
import { withoutElement } from '../../views/blocks/message.ts';
import { SCHEDULE_FACES, type ScheduleFace } from '../../views/schedules/faces.ts';
import { LIST_SCOPES, restoredCard, type ScheduleChange, whyPaused } from '../../views/schedules/schedule.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import { type Action, defineButton } from '../action.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { parseButton } from '../values.ts';
import {
  changeCard,
  createRemovedError,
  describeChange,
  expectAllowedThere,
  listSchedules,
  redrawPosted,
  removalCard,
  replyWithCard,
  resolveSchedule,
  storeCard,
  toShownSchedule,
} from './schedules.ts';

/** A change of a schedule, by words and by a button. */
export interface Operation {
  verb: string;
  command: string;
  /** Its name in the audit log; left out, the command. */
  audited?: string;
  done: ScheduleChange['done'];
  /** Chooses the schedule if none is named. */
  fits?(schedule: Schedule): boolean;
  /** Returns the changed schedule; undefined if it was removed in the meantime. */
  change(context: CommandContext, schedule: Schedule): Promise<Schedule | undefined>;
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
const ShareButton = z.object({ scope: z.enum(LIST_SCOPES) });
const UndoButton = z.object({ removal: z.string(), list: z.enum(LIST_SCOPES).optional() });

/** `list`, `pause`, `resume` and `remove` of a kind, with their buttons and "Undo". */
export function scheduleCommands(kind: ScheduleKind, snoozing?: Operation) {
  const face: ScheduleFace = SCHEDULE_FACES[kind];
  const { noun, role, commands, names, phrase, synonyms } = face;
  const commandFor = (operation: Operation, summary: string, ...others: Action[]): Command =>
    defineCommand({
      name: operation.command,
      phrase,
      shownAs: operation.command.split(' ')[0] ?? kind,
      synonyms: operation.done === 'removed' ? (synonyms.remove ?? []) : [],
      summary,
      usage: `[${[...names, ...(operation.done === 'removed' ? ['all'] : [])].join('|')}]`,
      role,
      durable: true,
      rest: true,
      args: Args,
      run: ({ nameOrId }, context) => changeNamed(kind, operation, context, nameOrId),
      actions: [createButton(kind, operation), ...others],
    });
  const list = defineCommand({
    name: commands.list,
    phrase,
    shownAs: kind,
    synonyms: synonyms.list ?? [],
    ...defined({ alone: synonyms.alone }),
    summary: `Lists this channel’s ${face.plural}: ${face.listed}`,
    usage: '[here|all]',
    role: role === 'operator' ? 'member' : role,
    args: z.object({ scope: z.string().toLowerCase().pipe(z.enum(LIST_SCOPES)).default('here') }),
    run: async ({ scope }, context) =>
      replyPrivately(await listSchedules(kind, context, scope, { isWhole: true })),
    actions: [shareAction(kind)],
  });
  const snooze = snoozing === undefined ? [] : [createButton(kind, snoozing)];
  return {
    list,
    pause: commandFor(pausing(kind), `Pauses a ${noun}`, ...snooze),
    resume: commandFor(resuming(kind), `Resumes a ${noun}, also one that Deckhand paused`),
    remove: commandFor(removing(kind), `Removes a ${noun}, with “Undo” for 10 minutes`, undoAction(kind)),
  };
}

/** Posts a person's own list in the channel. */
function shareAction(kind: ScheduleKind): Action {
  return defineButton(ShareButton, {
    actionId: `${kind}:share`,
    role: SCHEDULE_FACES[kind].role,
    once: true,
    durable: true,
    async run({ scope }, context) {
      const channel = expectChannel(context);
      const message = await listSchedules(kind, context, scope, { isShared: true });
      // Posted before the reply: if Slack refuses, the button can be pressed again.
      await deliver(context.workspace, { id: `shared ${context.invocation.requestId}`, channel, message });
      return replyInPlace(message, { what: `${kind} share` });
    },
  });
}

async function changeNamed(
  kind: ScheduleKind,
  operation: Operation,
  context: CommandContext,
  nameOrId: string | undefined,
): Promise<Reply> {
  const { command, audited = command, done, fits } = operation;
  if (done === 'removed' && nameOrId?.toLowerCase() === 'all') return removeHere(kind, context);
  const schedule = await resolveSchedule(kind, context, nameOrId, { done, fits });
  const changed = await changeSchedule(operation, context, schedule);
  const { state } = schedule;
  // A resumed schedule that cannot post is paused again.
  const undo = async () => state.kind === 'paused' && pauseSchedule(context.workspace, changed, state);
  const holds = done === 'resumed' ? { undo } : ({ isDone: true } as const);
  return replyWithCard(context, changed, changeCard(changed, done, context), { what: audited, ...holds });
}

/** Changes a schedule if its own channel allows the command. */
async function changeSchedule(
  { command, change }: Operation,
  context: CommandContext,
  schedule: Schedule,
): Promise<Schedule> {
  await expectAllowedThere(context, schedule, command);
  const changed = await change(context, schedule);
  if (changed === undefined) throw createRemovedError(schedule);
  return changed;
}

/** A button that changes a schedule and updates its message. */
function createButton(kind: ScheduleKind, operation: Operation): Action {
  const { verb, command, audited = command, done } = operation;
  return {
    actionId: `${kind}:${verb}`,
    durable: true,
    change: audited,
    async run(value, context) {
      const { id, list, isNotice } = parseButton(ScheduleButton, value);
      const { message } = context;
      const schedule = await resolveSchedule(kind, context, id);
      const changed = await changeSchedule(operation, context, schedule);
      const card = changeCard(changed, done, context, list);
      // Slack sends no content of a message that only one person sees.
      const isShared = message !== undefined;
      const isSeen = changed.channel === context.invocation.channel && (list === undefined || isShared);
      const redrawn = message && redrawPosted(message, changed, done, context);
      const { messageTs: ts } = context.invocation;
      const isCard = list === undefined && redrawn === undefined && ts !== undefined;
      if (isSeen) await storeCard(context.workspace, changed, isCard ? { ts, text: card.text } : undefined);
      const drawInPlace = async (): Promise<Message> => {
        const removed = done === 'removed' ? card : undefined;
        if (list !== undefined) return listSchedules(kind, context, list, { removed, isShared });
        if (!isNotice || message === undefined) return redrawn ?? card;
        const { text, blocks } = withoutElement(message, { value });
        return { text, blocks: [...blocks, ...card.blocks.slice(0, 1)] };
      };
      const answer = replyInPlace(await drawInPlace(), describeChange(audited, changed));
      if (isSeen) return answer;
      return replyWithCard(context, changed, card, { what: audited, isDone: true, answer });
    },
  };
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
        throw new UserError(`Already paused ${whyPaused(paused.state)}: ${describeSchedule(schedule)}.`);
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
    async change({ invocation, workspace }, schedule) {
      await removeSchedules(workspace, [schedule], invocation.requestId);
      return schedule;
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
  const [first] = here;
  if (first === undefined) throw new UserError(`This channel has no ${plural}.`, commands.add);
  await removeSchedules(workspace, here, invocation.requestId);
  for (const schedule of here) await storeCard(workspace, schedule);
  const message = removalCard(here, context);
  const audit = here.map((schedule) => describeChange(commands.remove, schedule));
  return { kind: 'card', channel: first.channel, message, isDone: true, audit };
}

function undoAction(kind: ScheduleKind): Action {
  const { commands } = SCHEDULE_FACES[kind];
  const change = `${kind} undo`;
  return defineButton(UndoButton, {
    actionId: `${kind}:undo`,
    durable: true,
    change,
    async run({ removal: removalRequest, list }, context) {
      const { invocation, message, workspace } = context;
      const undo = { removalRequest, undoRequest: invocation.requestId };
      const restored = await undoRemoval(workspace, kind, undo, ({ channel }) =>
        expectAllowedThere(context, { kind, channel }, commands.remove),
      );
      if (restored === undefined)
        throw new UserError('A removal can be undone once, within 10 minutes.', commands.add);
      const audit = restored.map((schedule) => describeChange(change, schedule));
      if (list === undefined) {
        const card = restoredCard(restored.map(toShownSchedule), invocation.user);
        const [only, ...others] = restored;
        const ts =
          others.length === 0 && invocation.channel === only?.channel ? invocation.messageTs : undefined;
        if (only !== undefined && ts !== undefined) await storeCard(workspace, only, { ts, text: card.text });
        return replyInPlace(card, audit);
      }
      const isShared = message !== undefined;
      return replyInPlace(await listSchedules(kind, context, list, { isShared }), audit);
    },
  });
}
