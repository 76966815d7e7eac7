import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defined } from '../../core/json.ts';
import type { ModalView, Reply } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import type { Schedule, ScheduleKind, ScheduleOf } from '../../records/schedules.ts';
import type { Values } from '../../views/blocks/modal.ts';
import { type Groups, keepOpened, mergeSubmitted, pickMine } from '../../views/blocks/shared-form.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { scheduleWords } from '../../views/schedules/words.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, defineButton } from '../action.ts';
import { type Command, defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { askAboutConflicts, ChangedMeanwhile, findLastChanger, saveUnchanged } from '../save-unchanged.ts';
import { FormFault, type Submission, type Submitted, type ViewState } from '../submission.ts';
import { parseForm } from '../values.ts';
import { replyWithEdited } from './change-replies.ts';
import { ScheduleButton } from './schedule-commands.ts';
import { schedulePhrases } from './schedule-phrases.ts';
import { createRemovedError, expectAllowedThere, resolveSchedule } from './schedule-replies.ts';

/** How schedules of a kind are edited in a form. */
interface EditForm<K extends ScheduleKind, Choices extends object> {
  callbackId: string;
  /** @param picks values to show instead of the stored ones */
  draw(context: CommandContext, schedule: ScheduleOf<K>, picks: Values): Promise<ModalView>;
  /** The stored choices as fields of the form. */
  readValues(schedule: ScheduleOf<K>): Values;
  together: Groups;
  /** @throws FormFault */
  readChoices(state: ViewState, context: CommandContext, schedule: ScheduleOf<K>): Promise<Choices>;
  /**
   * Returns undefined if the schedule was removed in the meantime.
   * @param expectSame throws if somebody changed it in the meantime
   * @throws FormFault
   */
  save(
    workspace: Workspace,
    schedule: ScheduleOf<K>,
    choices: Choices,
    expectSame: (current: ScheduleOf<K>) => void,
  ): Promise<ScheduleOf<K> | undefined>;
  /** Actions of the form's own elements. */
  actions?: readonly Action[];
  /** Draws the form for the choices in it, if they decide which fields it has. */
  redraw?: Submission['draw'];
}

/** Metadata of every form that edits a schedule. */
const EditOrigin = z.object({ id: z.string() });

const Args = z.object({ nameOrId: z.string().optional() });

/** `edit` of a kind, by words, by a button and by its form. */
export function editCommand<K extends ScheduleKind, Choices extends object>(
  kind: K,
  form: EditForm<K, Choices>,
): Command {
  const { names, noun, role, phrase } = SCHEDULE_FACES[kind];
  const name = `${kind} edit`;
  const open = async (context: CommandContext, nameOrId?: string): Promise<Reply> => {
    const schedule = await resolveSchedule(kind, context, nameOrId, { done: 'edited' });
    await expectAllowedThere(context, schedule, name);
    return { kind: 'modal', view: await form.draw(context, schedule, {}) };
  };
  return defineCommand({
    name,
    phrase,
    shownAs: kind,
    phrases: schedulePhrases(kind, 'edit'),
    summary: `Changes a ${noun} in a form`,
    usage: `[${names.join('|')}]`,
    role,
    needsAccount: true,
    takesAccount: false,
    rest: true,
    args: Args,
    handle: ({ nameOrId }, context) => open(context, nameOrId),
    actions: [
      defineButton(ScheduleButton, {
        actionId: `${kind}:edit`,
        handle: ({ id }, context) => open(context, id),
      }),
      ...(form.actions ?? []),
    ],
    submissions: [
      {
        callbackId: form.callbackId,
        submit: (state, context) => saveUnchanged(() => submitEdit(kind, form, state, context)),
        ...defined({ draw: form.redraw }),
      },
    ],
  });
}

/** Saves only what the person changed: somebody else may have edited the schedule since the form was opened. */
async function submitEdit<K extends ScheduleKind, Choices extends object>(
  kind: K,
  form: EditForm<K, Choices>,
  state: ViewState,
  context: CommandContext,
): Promise<Submitted> {
  const { id } = parseForm(EditOrigin, state.metadata);
  const name = `${kind} edit`;
  const schedule = await resolveSchedule(kind, context, id);
  await expectAllowedThere(context, schedule, name);
  const merged = mergeSubmitted(state, form.readValues(schedule), form);
  if (merged.conflicts.length > 0) {
    const today = await form.draw(context, schedule, {});
    const view = await form.draw(context, schedule, pickMine(merged));
    const changedBy = await findEditor(context.workspace, schedule);
    return askAboutConflicts(keepOpened(view, today), state, merged, changedBy);
  }
  const choices = await form.readChoices({ ...state, values: merged.values }, context, schedule);
  const before = new Map<string, unknown>(Object.entries(schedule));
  if (Object.entries(choices).every(([field, choice]) => isDeepStrictEqual(choice, before.get(field))))
    throw new FormFault({}, 'Nothing is different yet. Change something, or cancel.');
  const edited = await form.save(context.workspace, schedule, choices, (current) => {
    if (!isDeepStrictEqual(form.readValues(current), form.readValues(schedule))) throw new ChangedMeanwhile();
  });
  if (edited === undefined) throw createRemovedError(schedule);
  return { kind: 'close', card: await replyWithEdited(context, edited, { what: name }) };
}

/** The person who made the schedule what it is. */
function findEditor(workspace: Workspace, schedule: Schedule): Promise<string | undefined> {
  const { kind, channel: where } = schedule;
  const target = unmarked(scheduleWords(schedule));
  return findLastChanger(workspace, { commands: [`${kind} edit`, `${kind} add`, kind], where, target });
}
