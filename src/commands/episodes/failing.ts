import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { type Audited, type Message, mayRead } from '../../core/message.ts';
import { episodeRecords, type Failure, listFailing, type Verb } from '../../records/episodes.ts';
import type { Schedule } from '../../records/schedules.ts';
import { changeOwner } from '../../scheduler/episodes/episodes.ts';
import { say } from '../../views/blocks/message.ts';
import {
  FAILING_LISTS,
  type FailingList,
  failingMessage,
  type ShownFailure,
} from '../../views/episodes/episode.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, type CommandContext, defineCommand, parseButton } from '../command.ts';
import { findRefusal } from '../permission.ts';

export const failing = defineCommand({
  name: 'failing',
  phrase: 'shows what happened, and what fails now',
  synonyms: ['failures', 'incident', 'incidents', 'outages', 'status'],
  summary: 'Shows what fails now in this channel, since when, and who is on it',
  role: 'member',
  run: async (_, context) => ({ kind: 'private', message: await drawFailing(context) }),
});

/** Lists the failures in the channel. */
export async function drawFailing({ workspace, invocation }: CommandContext): Promise<Message> {
  const { user, channel } = invocation;
  const [failures, followers] = await Promise.all([
    readFailing(workspace, user, channel),
    readFollowers(workspace, user, channel),
  ]);
  return failingMessage(failures, followers, { word: workspace.word, channel });
}

/** Watches and guards that a person may read, in a channel or everywhere if it is undefined. */
export async function readFollowers(
  { schedules }: Workspace,
  user: string,
  channel: string | undefined,
): Promise<Schedule[]> {
  return (await schedules.all()).filter(
    ({ kind, channel: where, createdBy: person }) =>
      (kind === 'guard' || kind === 'watch') &&
      where === (channel ?? where) &&
      mayRead(user, { channel: where, person }),
  );
}

/** Slack needs one call for each address. */
const MAX_LINKED = 20;

/** Failures in a channel, or everywhere if it is undefined. The first ones have links to their messages. */
export async function readFailing(
  { store, home, accounts }: Workspace,
  user: string,
  channel: string | undefined,
): Promise<ShownFailure[]> {
  const failures = await listFailing(store, user, channel);
  if (failures.length === 0) return [];
  const isAccountShown = await accounts.hasSeveral();
  const withLink = async (failure: Failure, at: number): Promise<ShownFailure> => {
    const { episode } = failure;
    const subject = { ...failure.subject, isAccountShown };
    const { ts } = episode.rootRef ?? {};
    return ts && at < MAX_LINKED
      ? { ...failure, subject, link: await home.permalink({ channel: subject.channel, ts }) }
      : { ...failure, subject };
  };
  return Promise.all(failures.map(withLink));
}

/** The episode, the owner when Slack showed the button, and the list that contains the button. */
const EpisodeButton = z.object({
  key: z.string(),
  id: z.string(),
  owner: z.string().optional(),
  list: z.enum(FAILING_LISTS).optional(),
});

/** The command of each kind of failure. If it is switched off, nobody can use the buttons that it posted. */
const COMMANDS = { deployments: 'watch', reachability: 'guard' } as const;

/**
 * Buttons "I'm on it", "Take over", "Hand back" and "Close" of a failure, on its own message or in a list.
 * @param draw draws the list after the click
 */
export function ownerActions(
  draw: (list: FailingList, context: CommandContext) => Promise<Message>,
): Action[] {
  return (['claim', 'release', 'close'] as const).map((verb) => ({
    actionId: `episode:${verb}`,
    role: 'member',
    durable: true,
    change: `episode ${verb}`,
    async run(value, context) {
      const { list, ...clicked } = parseButton(EpisodeButton, value);
      const { fault, audit } = await changeEpisode(verb, clicked, context);
      if (list === undefined && fault !== undefined) throw new UserError(fault);
      if (list === undefined) return { kind: 'nothing', audit };
      const drawn = { kind: 'replace', message: await draw(list, context) } as const;
      if (fault === undefined) return { ...drawn, audit };
      return { kind: 'several', replies: [drawn, { kind: 'private', message: say(`:warning: ${fault}`) }] };
    },
  }));
}

/** `fault`: mrkdwn that says why nothing changed. @throws Refusal */
async function changeEpisode(
  verb: Verb,
  { key, id, owner: drawnOwner }: z.infer<typeof EpisodeButton>,
  { invocation: { user, channel }, workspace }: CommandContext,
): Promise<Audited & { fault?: string }> {
  const record = await episodeRecords(workspace.store).get(key);
  const clicked = record?.episodes.find((episode) => episode.id === id);
  if (record === undefined || clicked === undefined) return { fault: overWords(verb, undefined) };
  const { subject } = record;
  const { owner, ending } = clicked;
  // The owner may close a failure; anybody else must be an operator. A former owner is told who has it now.
  const isTheirs = owner === user || (owner !== undefined && drawnOwner === user) || ending !== undefined;
  const role = verb !== 'close' || isTheirs ? 'member' : 'operator';
  const permission = { user, command: COMMANDS[subject.kind], role } as const;
  const refusal = await findRefusal(workspace, { ...permission, channels: [channel, subject.channel] });
  if (refusal !== undefined) throw refusal;
  const change = await changeOwner(workspace, { key, id, drawnOwner }, { user, verb });
  if (change.kind === 'over') return { fault: overWords(verb, change.requestedBy) };
  if (change.kind === 'lost') return { fault: `<@${change.owner}> is on it.` };
  return { audit: { target: subject.name, where: subject.channel } };
}

/** @param requestedBy the person who closed it; undefined if it ended by itself */
function overWords(verb: Verb, requestedBy: string | undefined): string {
  const how = requestedBy === undefined ? 'This failure is over' : `<@${requestedBy}> closed this failure`;
  return verb === 'close' ? `${how} already.` : `${how}, so nobody has to be on it.`;
}
