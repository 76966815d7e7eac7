import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ModalView, Reply } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { ZoneName } from '../../core/time/zone.ts';
import { unknownAccount } from '../../records/accounts.ts';
import { projectOfChannel } from '../../records/channels.ts';
import { Cadence, nextTimes, type TimedSchedule } from '../../records/schedules.ts';
import { addTimed, editTimed, type TimedChoices } from '../../scheduler/schedules/start.ts';
import { refreshProject } from '../../scheduler/schedules/timed.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { say } from '../../views/blocks/message.ts';
import type { Values } from '../../views/blocks/modal.ts';
import type { OpenedFrom } from '../../views/schedules/schedule.ts';
import { type TimedForm, TimedOrigin } from '../../views/schedules/timed.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
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
import { presentInForm } from '../targets/project.ts';
import { faultOf, readTime } from './cadence-words.ts';
import {
  announce,
  announceNew,
  changeCard,
  expectAllowedThere,
  expectChange,
  recordChange,
  resolveSchedule,
  showEdited,
} from './changes.ts';
import { editCommand, type Operation, removedSince, scheduleCommands } from './lifecycle.ts';

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

/** How people set up and change digests or guards. */
export interface TimedFeature {
  kind: TimedSchedule['kind'];
  modal(form: TimedForm): ModalView;
  /** Snoozes one by a button. */
  snoozing?: Operation;
  /** Choices in the form of a new one. */
  defaults: Values;
  /** Values that only this form has. */
  readValues?(schedule: TimedSchedule): Values;
  /**
   * The form's or the words' choices, checked against what is connected.
   * @throws UserError if there is no such account or project, or none that works
   */
  choose(context: CommandContext, filled: Filled): Promise<TimedChoices>;
  /** True if a schedule of the channel does the same, and is changed when it is set up once more. */
  isSame(schedule: TimedSchedule, choices: TimedChoices): boolean;
}

/** Slack's handle for opening a form dies after 3 s. */
const ZONE_TIMEOUT_MS = 800;

export async function openTimedForm(
  feature: TimedFeature,
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
async function drawn(
  { kind, modal }: TimedFeature,
  { clock }: Pick<Workspace, 'clock'>,
  origin: TimedOrigin,
  values: Values,
): Promise<ModalView> {
  return modal({ origin, values, next: await nextInForm(kind, values, clock.now()) });
}

/** What an edited one is, filled in. */
async function formOf(
  feature: TimedFeature,
  { workspace }: CommandContext,
  schedule: TimedSchedule,
  from: OpenedFrom | undefined,
): Promise<ModalView> {
  const { id, cadence, zone, account, project, channel } = await refreshProject(workspace, schedule);
  const connected = (await workspace.accounts.list()).map(({ name }) => name);
  const names = [...new Set([...connected, ...(account === undefined ? [] : [account])])];
  const values = {
    cadence: cadence.kind === 'weekly' ? `weekly:${cadence.day}` : cadence.kind,
    ...('time' in cadence ? { time: cadence.time } : {}),
    ...('cron' in cadence ? { cron: cadence.cron } : {}),
    zone,
    account,
    project: project?.permalink,
    ...feature.readValues?.(schedule),
  };
  const origin = { id, from, channel, account, accounts: names.length > 1 ? names : [] };
  return drawn(feature, workspace, origin, values);
}

/** `add`, `edit`, `list`, `pause`, `resume` and `remove`. @param add its words; the form is this one's */
export function timedCommands<Args>(feature: TimedFeature, add: CommandSpec<Args>): Command[] {
  const { list, pause, resume, remove } = scheduleCommands(feature.kind, feature.snoozing);
  const edit = timedEditCommand(feature);
  return [defineCommand({ ...add, ...addForm(feature) }), edit, list, pause, resume, remove];
}

/** The form of a new one, with all that happens in it. */
function addForm(feature: TimedFeature) {
  return formParts(feature, 'add', async (context, { channel, accounts }, filled) => {
    // With one account there is no field for it.
    const account = accounts.length === 0 ? undefined : filled.account;
    return setUpTimed(feature, context, channel, { ...filled, account });
  });
}

/** `edit`, by words, by button and by its form. */
function timedEditCommand(feature: TimedFeature): Command {
  const edit = editCommand(feature.kind, (...opened) => formOf(feature, ...opened));
  const form = formParts(feature, 'edit', async (context, { id, from, accounts }, filled) => {
    const schedule = await resolveSchedule(feature.kind, context, id);
    await expectAllowedThere(context, schedule, edit.name);
    const account = accounts.length === 0 ? schedule.account : filled.account;
    const choices = await feature.choose(context, { ...filled, account });
    expectChange(schedule, { account: undefined, project: undefined, ...choices });
    const edited = await editTimed(context.workspace, schedule.id, choices);
    if (edited === undefined) throw removedSince(schedule);
    await showEdited(context, edited, from);
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
export async function setUpTimed(
  feature: TimedFeature,
  context: CommandContext,
  channel: string,
  filled: Filled,
): Promise<Reply> {
  const { user: setUpBy, requestId } = context.caller;
  const { workspace } = context;
  const choices = await feature.choose(context, filled);
  const all: readonly TimedSchedule[] = await workspace.schedules.list(feature.kind);
  const same = all.find(
    (one) => one.channel === channel && one.requestId !== requestId && feature.isSame(one, choices),
  );
  if (same !== undefined) return changeSame(context, same, choices);
  const schedule = await addTimed(workspace, { ...choices, requestId, channel, setUpBy });
  return announceNew(context, schedule, `${feature.kind} add`);
}

async function changeSame(
  context: CommandContext,
  same: TimedSchedule,
  choices: TimedChoices,
): Promise<Reply> {
  const { cadence, zone } = same;
  if (isDeepStrictEqual(cadence, choices.cadence) && zone === choices.zone) {
    return { kind: 'private', message: say(`Already set up: ${describeSchedule(same)}.`) };
  }
  const edited = await editTimed(context.workspace, same.id, choices);
  if (edited === undefined) throw removedSince(same);
  const reply = await announce(context, edited, changeCard(edited, 'edited', context));
  await recordChange(context, `${same.kind} edit`, edited);
  return reply;
}

/** The form of a digest or a guard: drawn anew with each choice, to show the next times, and read when it is sent. */
function formParts(
  feature: TimedFeature,
  verb: 'add' | 'edit',
  carryOut: (context: CommandContext, origin: TimedOrigin, filled: Filled) => Promise<Reply | undefined>,
): { actions: Action[]; submissions: Submission[] } {
  const callbackId = `${feature.kind}.${verb}`;
  const submit = async (state: ViewState, context: CommandContext): Promise<Submitted> => {
    const filled = await readForm(feature.kind, state, context.workspace.clock.now());
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
  kind: TimedSchedule['kind'],
  { values }: Pick<ViewState, 'values'>,
  now: number,
): Promise<Filled> {
  const fields = readFields(Fields, { values });
  const cadence = await cadenceIn(values);
  const fault = faultOf(kind, cadence, fields.zone, now);
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
async function nextInForm(
  kind: TimedSchedule['kind'],
  values: Values,
  now: number,
): Promise<TimedForm['next']> {
  try {
    const { cadence, zone } = await readForm(kind, { values }, now);
    return nextTimes(cadence, zone, now, SHOWN_TIMES);
  } catch (error) {
    if (error instanceof FormFault) return error.message;
    throw error;
  }
}
