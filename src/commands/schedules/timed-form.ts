import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Clock, withTimeout } from '../../core/clock.ts';
import type { ModalView } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { ZoneName } from '../../core/time/zone.ts';
import { unknownAccount } from '../../records/accounts.ts';
import { projectOfChannel } from '../../records/channels.ts';
import type { Schedule } from '../../records/schedules.ts';
import {
  Cadence,
  nextOf,
  nextTimes,
  type TimedNoun,
  type TimedSchedule,
} from '../../records/timed-schedules.ts';
import type { Choices, TimedKind } from '../../scheduler/schedules/timed.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { say } from '../../views/blocks/message.ts';
import type { Values } from '../../views/blocks/modal.ts';
import { nameOf, type OpenedFrom } from '../../views/schedules/schedule.ts';
import { type Listed, type TimedForm, TimedOrigin } from '../../views/schedules/timed.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  type Action,
  type Command,
  type CommandContext,
  type CommandSpec,
  defineCommand,
  FormFault,
  fromForm,
  readFields,
  redraw,
  type Submission,
  type Submitted,
  underField,
  type ViewState,
} from '../command.ts';
import { presentInForm } from '../resolve-target.ts';
import { faultOf, readTime } from './cadence-words.ts';
import {
  announce,
  announceNew,
  cardOf,
  described,
  expectAllowedThere,
  expectChange,
  recordChange,
  resolveSchedule,
  type ScheduleFeature,
  showEdited,
} from './feature.ts';
import { editCommand, removedSince, scheduleCommands } from './lifecycle.ts';

/** What the forms have; account and project as they were named. The last two are of digests alone. */
const Fields = z.object({
  cadence: z.string({ error: 'Choose how often.' }),
  zone: z.string({ error: 'Choose a time zone.' }).pipe(ZoneName),
  account: z.string().optional(),
  project: z.string().optional(),
  range: z.enum(ACTIVITY_RANGES).optional(),
  skip_quiet: z.array(z.string()).optional(),
});

/** What was filled in, or typed. */
export type Filled = Omit<z.infer<typeof Fields>, 'cadence'> & { cadence: Cadence };

/** Digests and guards, as people set them up and change them. */
export interface TimedFeature<R extends TimedSchedule> extends ScheduleFeature<R> {
  kind: TimedKind<R>;
  noun: TimedNoun;
  modal(form: TimedForm): ModalView;
  /** What is chosen in the form of a new one. */
  defaults: Values;
  /** What only this form has. */
  valuesOf(record: R): Values;
  /**
   * The form's or the words' choices, checked against what is connected.
   * @throws UserError where there is no such account or project, or none that works
   */
  choicesOf(context: CommandContext, filled: Filled): Promise<Choices<R>>;
  /** Whether one of a channel is about the same, and is changed where it is set up once more; never if left out. */
  isSame?(record: R, choices: Choices<R>): boolean;
}

/** Each with when it is due next; a snooze that is over is none. */
export function listed<R extends TimedSchedule>(records: readonly R[], clock: Clock): Listed<R>[] {
  const now = clock.now();
  return records.map((record) => {
    const { snoozedUntil = 0 } = record;
    return {
      ...record,
      next: nextOf(record, now),
      snoozedUntil: snoozedUntil > now ? snoozedUntil : undefined,
    };
  });
}

/** Slack's handle for opening a form dies after 3 s. */
const ZONE_TIMEOUT_MS = 800;

export async function openTimedForm<R extends TimedSchedule>(
  feature: TimedFeature<R>,
  channel: string,
  { caller, workspace, account: named }: CommandContext,
  chosen: Values = {},
): Promise<Reply> {
  const [accounts, bound, zone] = await Promise.all([
    workspace.accounts.list(),
    workspace.channels.get(channel),
    withTimeout(workspace.clock, ZONE_TIMEOUT_MS, zoneOf(workspace, caller.user)),
  ]);
  const names = accounts.map(({ name }) => name);
  if (named !== undefined && !names.includes(named.toLowerCase())) throw unknownAccount(named);
  const account = [named?.toLowerCase(), bound.account].find(
    (name) => name !== undefined && names.includes(name),
  );
  const project = (await presentInForm(workspace, account, projectOfChannel(bound, account)))?.permalink;
  const values = { ...feature.defaults, zone: zone ?? bound.zone ?? 'UTC', account, project, ...chosen };
  const origin = { channel, account, accounts: names.length > 1 ? names : [] };
  return { kind: 'modal', view: await drawn(feature, workspace, origin, values) };
}

/** The form with the next times for what is chosen so far. */
async function drawn<R extends TimedSchedule>(
  { noun, modal }: TimedFeature<R>,
  { clock }: Pick<Workspace, 'clock'>,
  origin: TimedOrigin,
  values: Values,
): Promise<ModalView> {
  return modal({ origin, values, next: await nextInForm(noun, values, clock.now()) });
}

/** What an edited one is, filled in. */
async function formOf<R extends TimedSchedule>(
  feature: TimedFeature<R>,
  { workspace }: CommandContext,
  { record }: Schedule<R>,
  from: OpenedFrom | undefined,
): Promise<ModalView> {
  const { id, cadence, zone, account, project, channel } = await feature.kind.refresh(workspace, record);
  const connected = (await workspace.accounts.list()).map(({ name }) => name);
  const names = [...new Set([...connected, ...(account === undefined ? [] : [account])])];
  const values = {
    cadence: cadence.kind === 'weekly' ? `weekly:${cadence.day}` : cadence.kind,
    ...('time' in cadence ? { time: cadence.time } : {}),
    ...('cron' in cadence ? { cron: cadence.cron } : {}),
    zone,
    account,
    project: project?.permalink,
    ...feature.valuesOf(record),
  };
  const origin = { id, from, channel, account, accounts: names.length > 1 ? names : [] };
  return drawn(feature, workspace, origin, values);
}

/** `add`, `edit`, `list`, `pause`, `resume` and `remove`. @param add its words; the form is this one's */
export function timedCommands<R extends TimedSchedule, Args>(
  feature: TimedFeature<R>,
  add: CommandSpec<Args>,
): Command[] {
  const { list, pause, resume, remove } = scheduleCommands(feature);
  const edit = timedEditCommand(feature);
  return [defineCommand({ ...add, ...addForm(feature) }), edit, list, pause, resume, remove];
}

/** The form of a new one, with all that happens in it. */
function addForm<R extends TimedSchedule>(feature: TimedFeature<R>) {
  return formParts(feature, 'add', async (context, { channel, accounts }, filled) => {
    // With one account there is no field for it.
    const account = accounts.length === 0 ? undefined : filled.account;
    return addTimed(feature, context, channel, { ...filled, account });
  });
}

/** `edit`, by words, by button and by its form. */
function timedEditCommand<R extends TimedSchedule>(feature: TimedFeature<R>): Command {
  const edit = editCommand(feature, (...opened) => formOf(feature, ...opened));
  const form = formParts(feature, 'edit', async (context, { id, from, accounts }, filled) => {
    const schedule = await resolveSchedule(feature, context, id);
    await expectAllowedThere(feature, context, schedule, edit.name);
    const account = accounts.length === 0 ? schedule.account : filled.account;
    const choices = await feature.choicesOf(context, { ...filled, account });
    expectChange(schedule.record, { account: undefined, project: undefined, ...choices });
    const edited = await feature.kind.edit(context.workspace, schedule.id, choices);
    if (edited === undefined) throw removedSince(feature, schedule);
    await showEdited(feature, context, edited, from);
    await recordChange(context, edit.name, edited);
    return undefined;
  });
  return defineCommand({
    ...edit,
    actions: [...(edit.actions ?? []), ...form.actions],
    submissions: form.submissions,
  });
}

/** Stores a new one and says so in the channel; where Deckhand may not post there, there is none. */
export async function addTimed<R extends TimedSchedule>(
  feature: TimedFeature<R>,
  context: CommandContext,
  channel: string,
  filled: Filled,
): Promise<Reply> {
  const { user: setUpBy, requestId } = context.caller;
  const { workspace } = context;
  const choices = await feature.choicesOf(context, filled);
  const same = (await feature.kind.list(workspace)).find(
    (one) =>
      one.channel === channel && one.record.requestId !== requestId && feature.isSame?.(one.record, choices),
  );
  if (same !== undefined) return changeSame(feature, context, same, choices);
  const schedule = await feature.kind.add(workspace, { ...choices, requestId, channel, setUpBy });
  return announceNew(feature, context, schedule, `${feature.noun} add`);
}

async function changeSame<R extends TimedSchedule>(
  feature: TimedFeature<R>,
  context: CommandContext,
  same: Schedule<R>,
  choices: Choices<R>,
): Promise<Reply> {
  const { cadence, zone } = same.record;
  if (isDeepStrictEqual(cadence, choices.cadence) && zone === choices.zone) {
    const known = nameOf(described(feature, same));
    return { kind: 'private', message: say(`This channel has it already: ${known}.`) };
  }
  const edited = await feature.kind.edit(context.workspace, same.id, choices);
  if (edited === undefined) throw removedSince(feature, same);
  const reply = await announce(context, edited, cardOf(feature, edited, 'edited', context));
  await recordChange(context, `${feature.noun} edit`, edited);
  return reply;
}

/** The form of a digest or a guard: drawn anew with each choice, to show the next times, and read when it is sent. */
function formParts<R extends TimedSchedule>(
  feature: TimedFeature<R>,
  verb: 'add' | 'edit',
  carryOut: (context: CommandContext, origin: TimedOrigin, filled: Filled) => Promise<Reply | undefined>,
): { actions: Action[]; submissions: Submission[] } {
  const callbackId = `${feature.noun}.${verb}`;
  const submit = async (state: ViewState, context: CommandContext): Promise<Submitted> => {
    const filled = await readForm(feature.noun, state, context.workspace.clock.now());
    const reply = await carryOut(context, originOf(state), filled);
    return { kind: 'close', ...(reply?.kind === 'private' ? { after: async () => reply } : {}) };
  };
  const actions = ['cadence', 'time', 'cron', 'zone', 'account'].map(
    (actionId): Action => ({
      actionId,
      view: callbackId,
      run: redraw(async (state, { workspace }, value) => {
        const values = { ...state.values, [actionId]: value ?? state.values[actionId] };
        const account = typeof values.account === 'string' ? values.account : undefined;
        return drawn(feature, workspace, { ...originOf(state), account }, values);
      }),
    }),
  );
  return { actions, submissions: [{ callbackId, submit }] };
}

function originOf(state: ViewState): TimedOrigin {
  return fromForm(TimedOrigin, state.metadata);
}

/** @throws FormFault */
async function readForm(
  noun: TimedNoun,
  { values }: Pick<ViewState, 'values'>,
  now: number,
): Promise<Filled> {
  const fields = readFields(Fields, { values });
  const cadence = await cadenceIn(values);
  const fault = faultOf(noun, cadence, fields.zone, now);
  if (fault !== undefined) throw new FormFault({ cron: unmarked(fault) });
  return { ...fields, cadence };
}

/** @throws FormFault */
async function cadenceIn({ cadence = '', time, cron }: Values): Promise<Cadence> {
  if (cadence === 'hourly') return { kind: 'hourly' };
  if (cadence === 'cron') {
    if (typeof cron !== 'string') throw new FormFault({ cron: 'Give five cron fields, e.g. 0 9 * * 1-5.' });
    return { kind: 'cron', cron: cron.trim().replaceAll(/\s+/g, ' ') };
  }
  const [kind, day] = String(cadence).split(':');
  const read = await underField('time', () => readTime(typeof time === 'string' ? time : undefined));
  const parsed = Cadence.safeParse({ kind, day, time: read });
  if (!parsed.success) throw new FormFault({ cadence: 'Choose how often.' });
  return parsed.data;
}

const SHOWN_TIMES = 3;

/** The form's next times for what is chosen so far, or what is still wrong. */
async function nextInForm(noun: TimedNoun, values: Values, now: number): Promise<TimedForm['next']> {
  try {
    const { cadence, zone } = await readForm(noun, { values }, now);
    return nextTimes(cadence, zone, now, SHOWN_TIMES);
  } catch (error) {
    if (error instanceof FormFault) return error.message;
    throw error;
  }
}
