import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Audited, Message } from '../../core/message.ts';
import { episodeRecords, type Verb } from '../../records/episodes.ts';
import { changeOwner } from '../../scheduler/episodes/episodes.ts';
import { say } from '../../views/blocks/message.ts';
import {
  allFailingMessage,
  FAILING_LISTS,
  type FailingList,
  failingMessage,
} from '../../views/episodes/failing.ts';
import { type Action, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findRefusal } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { parseButton } from '../values.ts';
import { readAllFailing, readFailing, readFollowers } from './read-failing.ts';

export const failing = defineCommand({
  name: 'failing',
  phrase: 'shows what happened, and what fails now',
  synonyms: ['failures', 'incident', 'incidents', 'outages', 'status'],
  summary: 'Shows what fails now in this channel, since when, and who is on it; or in all accounts',
  usage: '[all]',
  role: 'member',
  args: z.object({ scope: z.string().toLowerCase().pipe(z.literal('all')).optional() }),
  async run({ scope }, context) {
    const { invocation, workspace } = context;
    return replyPrivately(
      scope === 'all'
        ? allFailingMessage(await readAllFailing(workspace, invocation.user))
        : await drawFailing(context),
    );
  },
  actions: [
    defineButton(z.object({}), {
      actionId: 'failing:closed',
      run: async (_, context) => replyInPlace(await drawFailing(context, true)),
    }),
  ],
});

/** Lists the failures in the channel. @param isSettledShown true to list those that were closed too */
export async function drawFailing(
  { workspace, invocation }: CommandContext,
  isSettledShown = false,
): Promise<Message> {
  const { user, channel } = invocation;
  const [now, followers] = await Promise.all([
    readFailing(workspace, user, channel),
    readFollowers(workspace, user, channel),
  ]);
  return failingMessage(now, followers, { word: workspace.word, channel, isSettledShown });
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
