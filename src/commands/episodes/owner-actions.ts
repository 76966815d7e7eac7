import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { parseObject } from '../../core/json.ts';
import type { Audited, Message, Reply } from '../../core/message.ts';
import { findDrawnEpisode, type Subject, type Verb } from '../../records/episodes.ts';
import { changeOutageOwner, changeOwner } from '../../scheduler/episodes/change-owner.ts';
import { type OutageRef, readOutage } from '../../scheduler/episodes/count-failures.ts';
import { say, withoutElement } from '../../views/blocks/make-blocks.ts';
import { CLOSE, closeModal } from '../../views/episodes/close-modal.ts';
import { describeEpisode } from '../../views/episodes/describe-episode.ts';
import { FOLLOWED_BY } from '../../views/episodes/episode-buttons.ts';
import { FAILING_LISTS, type FailingList } from '../../views/episodes/failing-message.ts';
import { describeOutage } from '../../views/episodes/outage.ts';
import type { Action } from '../action.ts';
import type { CommandContext } from '../context.ts';
import { expectAllowed } from '../permission.ts';
import { replyInPlace } from '../replies.ts';
import type { Submission } from '../submission.ts';
import { parseButton, parseForm } from '../values.ts';

/** The failure, the owner when Slack showed the button, and the list that contains the button. */
const EpisodeButton = z.object({
  key: z.string().optional(),
  /** Place of an outage, in place of the key of a failure. */
  outage: z.string().optional(),
  id: z.string(),
  owner: z.string().optional(),
  list: z.enum(FAILING_LISTS).optional(),
  /** True in a message that only names the failure. The button has done its work there after a click. */
  isNamed: z.boolean().optional(),
  /** True if a modal asks first. */
  ask: z.boolean().optional(),
});
interface EpisodeButton extends z.infer<typeof EpisodeButton> {}

type Draw = (list: FailingList, context: CommandContext) => Promise<Message>;

/**
 * Buttons "I'm on it", "Take over", "Hand back" and "Close" of a failure, on its own message or in a list.
 * @param draw draws the list after the click
 */
export function ownerActions(draw: Draw): Action[] {
  return (['claim', 'release', 'close'] as const).map((verb) => ({
    actionId: `episode:${verb}`,
    role: 'member',
    durable: true,
    opensForm: (value) => parseObject(value ?? '')?.ask === true,
    change: `episode ${verb}`,
    async handle(value, context) {
      const clicked = parseButton(EpisodeButton, value);
      if (clicked.ask === true) return askToClose(clicked, context);
      const { fault, audit } = await changeByPerson(verb, clicked, context);
      const { list, isNamed = false } = clicked;
      if (list !== undefined) return answerInList(await draw(list, context), fault, audit);
      if (fault !== undefined) throw new UserError(fault, 'failing');
      const { message } = context;
      if (!isNamed || message === undefined) return { kind: 'nothing', audit };
      return replyInPlace(withoutElement(message, { value }), audit);
    },
  }));
}

function answerInList(message: Message, fault: string | undefined, audit: Audited['audit']): Reply {
  const drawn = replyInPlace(message, audit);
  if (fault === undefined) return drawn;
  return { kind: 'several', replies: [drawn, { kind: 'private', message: say(`:warning: ${fault}`) }] };
}

/** Form that asks before a failure is closed. @param draw draws the list whose menu opened it */
export function closeForm(draw: Draw): Submission {
  return {
    callbackId: CLOSE,
    role: 'member',
    async submit({ metadata }, context) {
      const clicked = parseForm(EpisodeButton, metadata);
      const { fault, audit: done } = await changeByPerson('close', clicked, context);
      const audit = done && { what: 'episode close', ...done };
      if (fault !== undefined) throw new UserError(fault, 'failing');
      const { list } = clicked;
      if (list === undefined) return { kind: 'close', audit };
      // Slack lets nobody edit a private message from a form.
      const after = async (): Promise<Reply> => ({ kind: 'private', message: await draw(list, context) });
      return { kind: 'close', audit, after };
    },
  };
}

async function askToClose(clicked: EpisodeButton, context: CommandContext): Promise<Reply> {
  const failure = await findFailure(clicked, context);
  if (failure === undefined) throw new UserError(overWords('close', undefined), 'failing');
  await checkPermission('close', failure, clicked, context);
  const { channel, threadTs: thread } = context.invocation;
  const metadata = { ...clicked, ask: undefined, channel, thread };
  return { kind: 'modal', view: closeModal(failure.title, metadata, clicked.outage !== undefined) };
}

/** A failure or an outage, as its buttons need it. */
interface DrawnFailure {
  kind: Subject['kind'];
  channel: string;
  owner: string | undefined;
  /** True if it has ended, so that the click changes nothing. */
  isOver: boolean;
  /** Mrkdwn. */
  title: string;
  /** For the audit log. */
  target: string;
  change(click: { user: string; verb: Verb; drawnOwner: string | undefined }): ReturnType<typeof changeOwner>;
}

async function findFailure(
  { key = '', outage: place, id }: EpisodeButton,
  { workspace }: CommandContext,
): Promise<DrawnFailure | undefined> {
  if (place !== undefined) return findOutage({ place, id }, workspace);
  const drawn = await findDrawnEpisode(workspace.store, { key, id });
  if (drawn === undefined) return undefined;
  const { key: present, record, episode } = drawn;
  const { subject } = record;
  return {
    kind: subject.kind,
    channel: subject.channel,
    owner: episode.owner,
    isOver: episode.ending !== undefined,
    title: describeEpisode(subject, episode).title,
    target: subject.name,
    change: ({ drawnOwner, ...click }) =>
      changeOwner(workspace, { key: present, id: episode.id, drawnOwner }, click),
  };
}

async function findOutage(
  ref: OutageRef,
  workspace: CommandContext['workspace'],
): Promise<DrawnFailure | undefined> {
  const state = await readOutage(workspace, ref);
  if (state === undefined) return undefined;
  const { key, place, outage, view } = state;
  return {
    kind: place.kind,
    channel: place.channel,
    owner: outage.owner,
    isOver: false,
    title: describeOutage(view),
    target: `${outage.members.length} projects of ${place.account}`,
    change: ({ drawnOwner, ...click }) =>
      changeOutageOwner(workspace, { place: key, id: outage.id, drawnOwner }, click),
  };
}

/** The owner may close a failure; anybody else must be an operator. A former owner is told who has it now. @throws Refusal */
async function checkPermission(
  verb: Verb,
  { kind, channel: place, owner, isOver }: DrawnFailure,
  { owner: drawnOwner }: EpisodeButton,
  context: CommandContext,
): Promise<void> {
  const { user } = context.invocation;
  const isTheirs = owner === user || (owner !== undefined && drawnOwner === user) || isOver;
  const role = verb !== 'close' || isTheirs ? 'member' : 'operator';
  const act = verb === 'close' ? { act: 'close a failure that somebody else is on' } : {};
  await expectAllowed(context, place, { command: FOLLOWED_BY[kind], role, ...act });
}

/** `fault`: mrkdwn that says why nothing changed. @throws Refusal */
export async function changeByPerson(
  verb: Verb,
  clicked: EpisodeButton,
  context: CommandContext,
): Promise<Audited & { fault?: string }> {
  const failure = await findFailure(clicked, context);
  if (failure === undefined) return { fault: overWords(verb, undefined) };
  await checkPermission(verb, failure, clicked, context);
  const { user } = context.invocation;
  const change = await failure.change({ user, verb, drawnOwner: clicked.owner });
  if (change.kind === 'over') return { fault: overWords(verb, change.requestedBy) };
  if (change.kind === 'lost') return { fault: `<@${change.owner}> is on it.` };
  return { audit: { target: failure.target, where: failure.channel } };
}

/** @param requestedBy the person who closed it; undefined if it ended by itself */
function overWords(verb: Verb, requestedBy: string | undefined): string {
  const how = requestedBy === undefined ? 'This failure is over' : `<@${requestedBy}> closed this failure`;
  return verb === 'close' ? `${how} already.` : `${how}, so nobody has to be on it.`;
}
