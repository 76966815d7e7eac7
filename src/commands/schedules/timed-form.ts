import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defined } from '../../core/json.ts';
import type { ModalView, Reply } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { isSameOrNone, type ProjectRef } from '../../core/project-ref.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { DIGEST_RANGES } from '../../core/time/range.ts';
import { ZoneName } from '../../core/time/zone.ts';
import { createUnknownAccount } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import { Cadence, listNextTimes, type TimedChoices, type TimedSchedule } from '../../records/schedules.ts';
import { refreshProject } from '../../scheduler/schedules/occurrences.ts';
import { addTimed, editTimed } from '../../scheduler/schedules/start-schedule.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { type Values, withBanner } from '../../views/blocks/modal.ts';
import { comeBack, mergeSubmitted, withOpened } from '../../views/blocks/shared-form.ts';
import { type TimedForm, TimedOrigin } from '../../views/schedules/timed-modal.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import { readZone } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, redraw } from '../action.ts';
import { type Command, type CommandSpec, defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import { FormFault, readFields, type Submitted, showUnderField, type ViewState } from '../submission.ts';
import { findProjectForForm } from '../targets/targets.ts';
import { parseForm } from '../values.ts';

import { ESCALATION_FLAGS, findCadenceFault, readTime } from './cadence-words.ts';

import { replyWithEdited, replyWithNew } from './change-replies.ts';
import { editCommand } from './edit-schedule.ts';
import { type Operation, scheduleCommands } from './schedule-commands.ts';
import { createRemovedError, expectAllowedThere, offerCard } from './schedule-replies.ts';

/** Fields of the forms; account and project as named. Only digests have range and skip_quiet, and only guards the last two. */
const Fields = z.object({
  cadence: z.string({ error: 'Choose how often.' }),
  zone: z.string({ error: 'Choose a time zone.' }).pipe(ZoneName),
  account: z.string().optional(),
  project: z.string().optional(),
  range: z.enum(DIGEST_RANGES).optional(),
  skip_quiet: z.array(z.string()).optional(),
  ...ESCALATION_FLAGS,
});

/** Choices from a form or from words. */
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
   * Checks the choices of the form or the words.
   * @param before the schedule that is edited
   * @throws UserError for an unknown account or project, or without a working account
   */
  choose(context: CommandContext, filled: Filled, before?: TimedSchedule): Promise<TimedChoices>;
  /** True if a schedule of the channel does the same, and is changed when it is set up again. */
  isSame(schedule: TimedSchedule, choices: TimedChoices): boolean;
  /** True if a channel has at most one for a project. Its form then edits the existing one. */
  isOnePerProject?: boolean;
}

/** Slack's handle for opening a form expires after 3 s. */
const ZONE_TIMEOUT_MS = 800;

/**
 * Opens the form of a new schedule, or of the existing one if a project has only one.
 * @param chosen values that were typed
 * @param target the typed account and project; by default the channel's
 */
export async function openTimedForm(
  feature: TimedFeature,
  channel: string,
  context: CommandContext,
  chosen: Values = {},
  target?: { account: string; project: ProjectRef | undefined },
): Promise<Reply> {
  const { invocation, workspace, account: accountName } = context;
  const [accounts, bound, zone] = await Promise.all([
    workspace.accounts.list(),
    workspace.channels.get(channel),
    withTimeout(workspace.clock, ZONE_TIMEOUT_MS, readZone(workspace, invocation.user)),
  ]);
  const names = accounts.map(({ name }) => name);
  if (accountName !== undefined && !names.includes(accountName.toLowerCase()))
    throw createUnknownAccount(accountName);
  const account =
    target?.account ?? names.find((name) => name === (accountName?.toLowerCase() ?? bound.account));
  const project = target
    ? target.project
    : await findProjectForForm(workspace, account, readChannelProject(bound, account));
  const existing = await findExisting(feature, workspace, channel, { account, project });
  if (existing !== undefined) {
    await expectAllowedThere(context, existing, `${feature.kind} edit`);
    const view = await drawEdit(feature, context, existing, defined(chosen));
    return { kind: 'modal', view: withBanner(view, describeExisting(existing)) };
  }
  const place = { account, project: project?.permalink };
  const values = { ...feature.defaults, zone: zone ?? bound.zone ?? 'UTC', ...place, ...chosen };
  const origin = { channel, account, accounts: names.length > 1 ? names : [] };
  return { kind: 'modal', view: await drawTimedForm(feature, workspace, origin, values) };
}

async function findExisting(
  { kind, isOnePerProject }: TimedFeature,
  { schedules }: Workspace,
  channel: string,
  { account, project }: { account: string | undefined; project: ProjectRef | undefined },
): Promise<TimedSchedule | undefined> {
  if (!isOnePerProject || project === undefined) return undefined;
  const all: readonly TimedSchedule[] = await schedules.list(kind);
  return all.find(
    (one) =>
      one.channel === channel &&
      (account === undefined || one.account === account) &&
      isSameOrNone(one.project, project),
  );
}

function describeExisting(existing: TimedSchedule): string {
  return `This channel has ${describeSchedule(existing)} already. Below is how it is now.`;
}

/** The form with the next times for the current choices. */
async function drawTimedForm(
  { kind, modal }: TimedFeature,
  { clock }: Pick<Workspace, 'clock'>,
  origin: TimedOrigin,
  values: Values,
): Promise<ModalView> {
  return modal({ origin, values, next: await findNext(kind, values, clock.now()) });
}

/** The choices of a schedule as fields of its form. */
function timedValues(feature: TimedFeature, schedule: TimedSchedule): Values {
  const { cadence, zone, account, project } = schedule;
  return {
    cadence: cadence.kind === 'weekly' ? `weekly:${cadence.day}` : cadence.kind,
    ...('time' in cadence ? { time: cadence.time } : {}),
    ...('cron' in cadence ? { cron: cadence.cron } : {}),
    zone,
    account,
    project: project?.permalink,
    ...feature.readValues?.(schedule),
  };
}

/** The form of an existing schedule. @param picks values to show instead of the stored ones */
async function drawEdit(
  feature: TimedFeature,
  { workspace }: CommandContext,
  schedule: TimedSchedule,
  picks: Values,
): Promise<ModalView> {
  const { id, account, channel, project } = await refreshProject(workspace, schedule);
  const connected = (await workspace.accounts.list()).map(({ name }) => name);
  const names = [...new Set([...connected, ...(account === undefined ? [] : [account])])];
  const stored = timedValues(feature, schedule);
  const values: Values = { ...stored, project: project?.permalink, ...picks };
  const listed = typeof values.account === 'string' ? values.account : undefined;
  const origin = { id, channel, account: listed, accounts: names.length > 1 ? names : [] };
  return withOpened(await drawTimedForm(feature, workspace, origin, values), stored);
}

/** Fields that mean something only together. */
const TOGETHER = [
  ['cadence', 'time', 'cron'],
  ['account', 'project'],
  ['mention', 'after'],
];

/** `add`, `edit`, `list`, `pause`, `resume` and `remove`. @param add the command without its form */
export function timedCommands<Args>(feature: TimedFeature, add: CommandSpec<Args>): Command[] {
  const { kind, snoozing } = feature;
  const { list, pause, resume, remove } = scheduleCommands(kind, snoozing);
  const edit = editCommand(kind, {
    callbackId: `${kind}.edit`,
    draw: (...opened) => drawEdit(feature, ...opened),
    readValues: (schedule) => timedValues(feature, schedule),
    together: TOGETHER,
    actions: redrawActions(feature, `${kind}.edit`),
    redraw: (state, context) => drawChosen(feature, state, context),
    async readChoices(state, context, schedule) {
      const filled = await readForm(kind, state, context.workspace.clock.now());
      const account = readTimedOrigin(state).accounts.length === 0 ? schedule.account : filled.account;
      const choices = await feature.choose(context, { ...filled, account }, schedule);
      return { account: undefined, project: undefined, ...choices };
    },
    save: (workspace, { id }, choices, expectSame) => editTimed(workspace, id, choices, expectSame),
  });
  const callbackId = `${kind}.add`;
  const submit = (state: ViewState, context: CommandContext): Promise<Submitted> =>
    submitNew(feature, state, context);
  const draw = (state: ViewState, context: CommandContext): Promise<ModalView> =>
    drawChosen(feature, state, context);
  const actions = redrawActions(feature, callbackId);
  const form = { actions, submissions: [{ callbackId, submit, draw }] };
  return [defineCommand({ ...add, ...form }), edit, list, pause, resume, remove];
}

async function submitNew(
  feature: TimedFeature,
  state: ViewState,
  context: CommandContext,
): Promise<Submitted> {
  const { kind } = feature;
  const { workspace } = context;
  const filled = await readForm(kind, state, workspace.clock.now());
  const { channel, accounts } = readTimedOrigin(state);
  // With one account, the form has no field for it.
  const account = accounts.length === 0 ? undefined : filled.account;
  const choices = await feature.choose(context, { ...filled, account });
  const same = await findSame(feature, context, channel, choices);
  if (feature.isOnePerProject && same && !isDeepStrictEqual(pickChanged(same), pickChanged(choices))) {
    await expectAllowedThere(context, same, `${kind} edit`);
    const today = await drawEdit(feature, context, same, {});
    // Every choice is the person's, because the form showed nothing of the existing one.
    const merged = mergeSubmitted(state, timedValues(feature, same), { together: TOGETHER, opened: {} });
    const banner = `${describeExisting(same)} Nothing was saved.`;
    return { kind: 'view', view: comeBack(today, state, merged, banner) };
  }
  return { kind: 'close', card: await storeTimed(feature, context, channel, choices) };
}

/** Sets up a schedule by words. Choices that the words leave out stay, if it exists. */
export async function setUpTimed(
  feature: TimedFeature,
  context: CommandContext,
  channel: string,
  filled: Filled,
): Promise<Reply> {
  return storeTimed(feature, context, channel, await feature.choose(context, filled));
}

async function findSame(
  { kind, isSame }: TimedFeature,
  { invocation, workspace }: CommandContext,
  channel: string,
  choices: TimedChoices,
): Promise<TimedSchedule | undefined> {
  const all: readonly TimedSchedule[] = await workspace.schedules.list(kind);
  return all.find(
    (one) => one.channel === channel && one.requestId !== invocation.requestId && isSame(one, choices),
  );
}

/** Stores a new schedule and shows it. If Deckhand may not post in the channel, the schedule is removed again. */
async function storeTimed(
  feature: TimedFeature,
  context: CommandContext,
  channel: string,
  requested: TimedChoices,
): Promise<Reply> {
  const { user: createdBy, requestId } = context.invocation;
  const { workspace } = context;
  const same = await findSame(feature, context, channel, requested);
  if (same === undefined) {
    const schedule = await addTimed(workspace, { ...requested, requestId, channel, createdBy });
    return replyWithNew(context, schedule, `${feature.kind} add`);
  }
  const choices =
    requested.kind === 'guard' && same.kind === 'guard'
      ? { ...requested, escalation: requested.escalation ?? same.escalation }
      : requested;
  if (isDeepStrictEqual(pickChanged(same), pickChanged(choices)))
    return replyPrivately(
      await offerCard(context, say(`Already set up: ${describeSchedule(same, context.workspace.pages)}.`)),
    );
  const edited = await editTimed(workspace, same.id, choices);
  if (edited === undefined) throw createRemovedError(same);
  return replyWithEdited(context, edited, { what: `${same.kind} edit` });
}

/** Fields that a repeated set-up may change. */
function pickChanged({ cadence, zone, ...rest }: TimedSchedule | TimedChoices): unknown[] {
  return [cadence, zone, rest.kind === 'guard' ? rest.escalation : undefined];
}

/** Redraws the form with each choice, to show the next times. */
function redrawActions(feature: TimedFeature, view: string): Action[] {
  return ['cadence', 'time', 'cron', 'zone', 'account'].map((actionId) => ({
    actionId,
    view,
    handle: redraw(async (state, context, value) => {
      const values = { ...state.values, [actionId]: value ?? state.values[actionId] };
      return drawChosen(feature, { ...state, values }, context);
    }),
  }));
}

/** The form for the choices in it. */
function drawChosen(
  feature: TimedFeature,
  state: ViewState,
  { workspace }: CommandContext,
): Promise<ModalView> {
  const { values } = state;
  const account = typeof values.account === 'string' ? values.account : undefined;
  return drawTimedForm(feature, workspace, { ...readTimedOrigin(state), account }, values);
}

function readTimedOrigin(state: ViewState): TimedOrigin {
  return parseForm(TimedOrigin, state.metadata);
}

/** @throws FormFault */
async function readForm(
  kind: TimedSchedule['kind'],
  { values }: Pick<ViewState, 'values'>,
  now: number,
): Promise<Filled> {
  const fields = readFields(Fields, { values });
  const cadence = await readCadence(values);
  const fault = findCadenceFault(kind, cadence, fields.zone, now);
  if (fault !== undefined) throw new FormFault({ cron: unmarked(fault) });
  return { ...fields, cadence };
}

/** @throws FormFault */
async function readCadence({ cadence = '', time, cron }: Values): Promise<Cadence> {
  if (cadence === 'hourly') return { kind: 'hourly' };
  if (cadence === 'cron') {
    if (typeof cron !== 'string') throw new FormFault({ cron: 'Give five cron fields, e.g. 0 9 * * 1-5.' });
    return { kind: 'cron', cron: cron.trim().replaceAll(/\s+/g, ' ') };
  }
  const [kind, day] = String(cadence).split(':');
  const typed = typeof time === 'string' ? time : undefined;
  const parsed = Cadence.safeParse({ kind, day, time: await showUnderField('time', () => readTime(typed)) });
  if (!parsed.success) throw new FormFault({ cadence: 'Choose how often.' });
  return parsed.data;
}

const SHOWN_TIMES = 3;

/** The next times for the current choices, or the error in them. */
async function findNext(
  kind: TimedSchedule['kind'],
  values: Values,
  now: number,
): Promise<TimedForm['next']> {
  try {
    const { cadence, zone } = await readForm(kind, { values }, now);
    return listNextTimes(cadence, zone, now, SHOWN_TIMES);
  } catch (error) {
    if (error instanceof FormFault) return Object.values(error.errors).join(' ');
    throw error;
  }
}
