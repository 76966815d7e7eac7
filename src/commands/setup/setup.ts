import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { CardReply, ModalView, Reply } from '../../core/message.ts';
import { isPattern, MAX_PATTERN } from '../../core/names.ts';
import { isSameProject, type ProjectRef, toProjectRef } from '../../core/project-ref.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import type { Subject } from '../../records/episodes.ts';
import type { Schedule } from '../../records/schedules.ts';
import { expectRoomForSchedule } from '../../scheduler/schedules/pause-schedule.ts';
import { carryOutPlan, readPlan, type SetupPlan, takeBackPlan } from '../../scheduler/setup/setup-plan.ts';
import { listSetUp } from '../../scheduler/setup/show-channel-card.ts';
import { tellStopped } from '../../scheduler/setup/tell-stopped.ts';
import { readFeed } from '../../scheduler/watches/feed.ts';
import { makeFreeId } from '../../store/store.ts';
import type { Values } from '../../views/blocks/modal.ts';
import { mergeSubmitted, pickMine, replaceForm, withOpened } from '../../views/blocks/shared-form.ts';
import { stoppedWords } from '../../views/episodes/episode.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { escalationValues } from '../../views/schedules/timed-modal.ts';
import { savedMessage, setUpLine } from '../../views/setup/channel-card.ts';
import { AS_IS_TEXT, SETUP, SetupOrigin, setupModal } from '../../views/setup/setup-modal.ts';
import { readZone } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { DEFAULT_RANGE } from '../digests/digest.ts';
import { setupProjectsPicker } from '../option-sources.ts';
import { replyPrivately } from '../replies.ts';
import { askAboutConflicts, findLastChanger } from '../save-unchanged.ts';
import { readEscalation } from '../schedules/cadence-words.ts';
import { describeChange, retireCard } from '../schedules/change-replies.ts';
import { expectAllowedThere } from '../schedules/schedule-replies.ts';
import { FormFault, readFields, type Submitted, showUnderField, type ViewState } from '../submission.ts';
import { findChosenProject, resolveAccount } from '../targets/targets.ts';
import { parseForm } from '../values.ts';
import { readHoursField } from '../watches/watch.ts';
import { cardButtons } from './card-buttons.ts';
import {
  ALL_PROJECTS,
  AS_IS,
  type ChannelSetup,
  describeSetup,
  type SetUpSchedules,
  selectSetUp,
} from './describe-setup.ts';
import { type ChangedField, type NewSchedules, planSetup, type SetupChoices } from './plan-setup.ts';

const Typed = z.string().trim().optional();
const Fields = z.object({
  account: z.string().optional(),
  projects: z.array(z.string()).default([]),
  pattern: Typed,
  hear: z.enum(['failures', 'everything', 'nothing', AS_IS], { error: 'Choose what to hear.' }),
  mention: Typed,
  after: Typed,
  guard: z.enum(['none', 'hourly', 'daily', AS_IS], { error: 'Choose one.' }),
  digest: z.enum(['none', 'weekly', 'daily', AS_IS], { error: 'Choose one.' }),
  hours: Typed,
});
type Fields = z.infer<typeof Fields>;

export const setup = defineCommand({
  name: 'setup',
  phrases: {
    'set up': '',
    'install|onboard': '',
    'set|setup up? this? channel *': '',
    'configure|edit|change setup|this? channel|notifications|alerts *': '',
    'change|edit|add notifications|alerts|setup|watches|subscriptions|schedule|schedules|mention|mentions *':
      '',
    'change|edit|set? working|quiet|office|business hours|time *': '',
    'new|add schedule|notification|notifications|alert|alerts *': '',
  },
  phrase: 'sets up all that this channel hears',
  summary: 'Sets up everything that this channel hears of an account, in one form',
  examples: ['setup'],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  handle: (_, context) => openSetup(context),
  actions: [
    defineButton(z.object({}), { actionId: 'setup:open', handle: (_, context) => openSetup(context) }),
    redrawForAccount(),
    ...cardButtons,
  ],
  submissions: [{ callbackId: SETUP, actsIn: readChannel, submit: submitSetup }],
  optionSources: [setupProjectsPicker],
});

async function openSetup(context: CommandContext): Promise<Reply> {
  const channel = expectChannel(context);
  const { name: account } = await resolveAccount(context, SCHEDULES);
  return { kind: 'modal', view: await drawSetup(context, { channel, account }) };
}

/** Reads what a channel has of an account. */
async function readSetup(
  { schedules }: Workspace,
  { channel, account }: SetupOrigin,
): Promise<{ current: SetUpSchedules; setup: ChannelSetup }> {
  const current = selectSetUp(await schedules.all(), channel, account);
  return { current, setup: describeSetup(current) };
}

/** @param picks values to show instead of what the channel has */
async function drawSetup(
  { workspace }: CommandContext,
  origin: SetupOrigin,
  picks: Values = {},
): Promise<ModalView> {
  const { current, setup } = await readSetup(workspace, origin);
  const stored = readValues(setup);
  const isNew = [current.watches, current.guards, current.digests].every((some) => some.length === 0);
  const bound = readChannelProject(await workspace.channels.get(origin.channel), origin.account);
  const projects = isNew && bound !== undefined ? [bound] : setup.projects;
  const permalinks = projects.map(({ permalink }) => permalink);
  const initial = isNew ? { ...stored, hear: 'failures', projects: permalinks } : stored;
  const accounts = [...new Set((await workspace.accounts.list()).map(({ name }) => name))];
  const form = {
    origin,
    accounts: accounts.includes(origin.account) ? accounts : [...accounts, origin.account],
    values: { ...initial, ...picks, account: origin.account },
    projects,
    guard: current.guards[0],
    digest: current.digests[0],
    hasCard: (await listSetUp(workspace, origin.channel)).length > 0,
  };
  return withOpened(setupModal(form), { ...stored, account: origin.account });
}

/** The fields of the form for what a channel has. */
function readValues({ projects, patterns, hear, escalation, hours, guard, digest }: ChannelSetup): Values {
  const mentions =
    escalation === AS_IS ? { mention: AS_IS_TEXT, after: undefined } : escalationValues(escalation);
  return {
    projects: projects.map(({ permalink }) => permalink),
    pattern: patterns.join(', ') || undefined,
    hear,
    ...{ mention: undefined, after: undefined, ...mentions },
    guard,
    digest,
    hours: hours === AS_IS ? AS_IS_TEXT : hours && `${hours.from}-${hours.to}`,
  };
}

/** Shows what the channel has of another account. */
function redrawForAccount(): Action {
  return {
    actionId: 'account',
    view: SETUP,
    async handle(account, context) {
      const { state } = context;
      if (state === undefined || account === undefined) return { kind: 'nothing' };
      const { channel } = parseForm(SetupOrigin, state.metadata);
      const view = await drawSetup(context, { channel, account });
      await context.updateModal(replaceForm(view, state.view));
      return { kind: 'nothing' };
    },
  };
}

function readChannel({ metadata }: ViewState): string {
  return parseForm(SetupOrigin, metadata).channel;
}

/** Makes what the person changed, all of it or nothing, and shows what the channel has then. */
async function submitSetup(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { workspace, invocation } = context;
  const { channel } = parseForm(SetupOrigin, state.metadata);
  return workspace.store.exclusive(`setup ${channel}`, async () => {
    // A repeat after a kill: the changes that were made would look like somebody else's.
    const begun = await readPlan(workspace, invocation.requestId);
    const planned = begun === undefined ? await plan(state, context) : { plan: begun };
    if ('submitted' in planned) return planned.submitted;
    const open = await tellRemoved(context, planned.plan);
    await carryOutPlan(workspace, invocation.requestId, planned.plan);
    return { kind: 'close', card: await replyWithSetup(context, planned.plan, open) };
  });
}

type Planned = { plan: SetupPlan } | { submitted: Submitted };

/** @throws FormFault, UserError, AccountFailure before anything is changed */
async function plan(state: ViewState, context: CommandContext): Promise<Planned> {
  const { workspace } = context;
  const opened = parseForm(SetupOrigin, state.metadata);
  const fields = readFields(Fields, state);
  const account = await workspace.accounts.resolve(SCHEDULES, fields.account ?? opened.account);
  const origin = { ...opened, account: account.name };
  const { current, setup } = await readSetup(workspace, origin);
  const now = { ...readValues(setup), account: account.name };
  // Nothing of another account was shown, so every choice is the person's.
  const isOther = account.name !== opened.account;
  const merged = mergeSubmitted(state, now, { together: TOGETHER, ...(isOther && { opened: {} }) });
  if (!isOther && merged.conflicts.length > 0) {
    const view = await drawSetup(context, origin, pickMine(merged));
    const changedBy = await findLastChanger(workspace, { commands: CHANGING, where: opened.channel });
    return { submitted: askAboutConflicts(view, state, merged, changedBy) };
  }
  const values = isOther ? state.values : merged.values;
  const choices = await readChoices(context, { values, now, setup, account: account.name });
  const changes = planSetup(current, setup, choices, await prepareNew(context, origin));
  if (changes.length === 0) throw createNothingToDo(choices);
  await expectPossible(context, origin, changes);
  return { plan: { ...origin, changes } };
}

/** Reads the fields that every added schedule has. */
async function prepareNew(
  { invocation, workspace }: CommandContext,
  origin: SetupOrigin,
): Promise<NewSchedules> {
  const { user: createdBy, requestId } = invocation;
  const taken = new Set((await workspace.schedules.all()).map(({ kind, id }) => `${kind} ${id}`));
  return {
    ...origin,
    createdBy,
    requestId,
    zone: await readZone(workspace, createdBy),
    range: DEFAULT_RANGE,
    now: workspace.clock.now(),
    makeId(kind, seed) {
      const isTaken = (id: string): boolean => taken.has(`${kind} ${id}`);
      const id = makeFreeId(kind.charAt(0), `${requestId} ${seed}`, isTaken);
      taken.add(`${kind} ${id}`);
      return id;
    },
  };
}

/** Fields that mean something only together. */
const TOGETHER = [['mention', 'after']];

/** Commands that change what the form shows. */
const CHANGING = [
  SETUP,
  ...['watch', 'watch edit', 'unwatch', 'guard add', 'guard edit', 'guard remove'],
  ...['digest add', 'digest edit', 'digest remove'],
];

function createNothingToDo({ projects, patterns, hear }: SetupChoices): FormFault {
  const isEmpty = projects.length === 0 && patterns.length === 0 && hear !== 'nothing';
  if (isEmpty)
    return new FormFault({
      projects: 'Choose the projects, or give a pattern below. A star alone means all.',
    });
  return new FormFault({}, 'Nothing is different yet. Change something, or cancel.');
}

/** @throws UserError, Refusal or AccountFailure if a change could not be made */
async function expectPossible(
  context: CommandContext,
  { channel, account }: SetupOrigin,
  changes: SetupPlan['changes'],
): Promise<void> {
  const { workspace } = context;
  for (const kind of new Set(changes.map((change) => change.kind)))
    await expectAllowedThere(context, { kind, channel }, SCHEDULE_FACES[kind].command);
  const added = changes.filter(({ before }) => before === undefined);
  const removed = changes.filter(({ after }) => after === undefined);
  if (added.length > removed.length)
    await expectRoomForSchedule(workspace, channel, added.length - removed.length);
  // The service may refuse the feed, and the person has to hear that now.
  if (added.some(({ kind }) => kind === 'watch'))
    await readFeed(workspace, await workspace.accounts.resolve(SCHEDULES, account));
}

/** @throws FormFault */
async function readChoices(
  context: CommandContext,
  form: { values: Values; now: Values; setup: ChannelSetup; account: string },
): Promise<SetupChoices> {
  const { now, setup } = form;
  const fields = readFields(Fields, form);
  const { hear, guard, digest } = fields;
  const patterns = readPatterns(fields.pattern);
  const read = {
    projects: await findProjects(context, form.account, fields.projects, setup.projects),
    patterns,
    escalation: await readMention(context, fields, setup),
    hours: await readHours(context, fields.hours, setup),
    hear: hear === AS_IS ? undefined : hear,
    guard: guard === AS_IS ? undefined : guard,
    digest: digest === AS_IS ? undefined : digest,
  };
  const changed = new Set<ChangedField>();
  for (const field of ['hear', 'guard', 'digest'] as const)
    if (fields[field] !== now[field] && fields[field] !== AS_IS) changed.add(field);
  if (!isAsIs(fields.mention) && !isDeepStrictEqual(read.escalation, setup.escalation))
    changed.add('mention');
  if (!isAsIs(fields.hours) && !isDeepStrictEqual(read.hours, setup.hours)) changed.add('hours');
  return { ...read, changed };
}

function isAsIs(text: string | undefined): boolean {
  return text?.toLowerCase() === AS_IS_TEXT;
}

/** The chosen projects. What the channel has already is not looked up: it may be gone from the service. */
async function findProjects(
  context: CommandContext,
  accountName: string,
  chosen: readonly string[],
  existing: readonly ProjectRef[],
): Promise<ProjectRef[]> {
  const account = await context.workspace.accounts.resolve(SCHEDULES, accountName);
  const projects: ProjectRef[] = [];
  for (const text of chosen) {
    const project =
      existing.find(({ permalink }) => permalink === text) ??
      toProjectRef(await showUnderField('projects', () => findChosenProject(context, account, text)));
    const isTwice = projects.some((one) => isSameProject(one, project));
    if (!isTwice) projects.push(existing.find((one) => isSameProject(one, project)) ?? project);
  }
  return projects;
}

/** @throws FormFault */
function readPatterns(typed = ''): string[] {
  const words = typed
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const plain = words.find((word) => !isPattern(word));
  if (plain !== undefined)
    throw new FormFault({
      pattern: `Put a star into ${plain.slice(0, 40)}, or choose it among the projects.`,
    });
  if (words.some((word) => word.length > MAX_PATTERN))
    throw new FormFault({ pattern: `A pattern has at most ${MAX_PATTERN} characters.` });
  const all = words.map((word) => (/^\*+$/.test(word) ? ALL_PROJECTS : word));
  return [...new Map(all.map((word) => [word.toLowerCase(), word])).values()];
}

/** @throws FormFault */
async function readMention(
  context: CommandContext,
  { mention, after }: Fields,
  { escalation: before }: ChannelSetup,
): Promise<SetupChoices['escalation']> {
  if (isAsIs(mention)) {
    if (after) throw new FormFault({ mention: 'Name whom to mention, or leave the time empty.' });
    return AS_IS;
  }
  return readEscalation(context, { mention, after }, before === AS_IS ? undefined : before);
}

/** @throws FormFault */
async function readHours(
  context: CommandContext,
  typed: string | undefined,
  { hours: before }: ChannelSetup,
): Promise<SetupChoices['hours']> {
  if (!typed || isAsIs(typed)) return typed ? AS_IS : undefined;
  return readHoursField(context, typed, before === AS_IS ? undefined : before);
}

function listRemoved({ changes }: SetupPlan): Schedule[] {
  return changes.flatMap(({ before, after }) => (before && after === undefined ? [before] : []));
}

/** Before they are removed: what they follow does not fail in this channel any more afterwards. */
function tellRemoved({ invocation, workspace }: CommandContext, planned: SetupPlan): Promise<Subject[]> {
  const { user, requestId: request } = invocation;
  return tellStopped(workspace, listRemoved(planned), { user, verb: 'remove', request });
}

/** Shows what the channel has after a plan. If Slack refuses the card, everything is as it was before. */
async function replyWithSetup(
  context: CommandContext,
  planned: SetupPlan,
  open: readonly Subject[],
): Promise<CardReply> {
  const { workspace, invocation } = context;
  const { channel, changes } = planned;
  const removed = listRemoved(planned);
  const added = changes.flatMap(({ before, after }) => (before === undefined && after ? [after] : []));
  const edited = changes.flatMap(({ before, after }) => (before && after ? [after] : []));
  for (const schedule of removed) await retireCard(workspace, schedule);
  const note = stoppedWords(open);
  const message = setUpLine(invocation.user, { 'set up': added, edited, removed }, note, workspace.pages);
  return {
    kind: 'card',
    channel,
    line: {
      name: invocation.requestId,
      message,
      isForChannel: removed.some(({ kind }) => kind === 'watch' || kind === 'guard'),
    },
    answer: replyPrivately(savedMessage(changes.length)),
    undo: () => takeBackPlan(workspace, invocation.requestId, planned),
    audit: [...added, ...edited, ...removed].map((schedule) => describeChange(SETUP, schedule)),
  };
}
