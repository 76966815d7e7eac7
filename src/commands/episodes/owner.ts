import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { episodeRecords } from '../../records/episodes.ts';
import { changeOwner } from '../../scheduler/episodes/episodes.ts';
import type { Action } from '../command.ts';
import { fromButton } from '../command.ts';
import { refusalOf } from '../permission.ts';

/** The episode, and who was on it when the button was drawn. */
const EpisodeButton = z.object({ key: z.string(), id: z.string(), owner: z.string().optional() });

/** Where the command is switched off, nobody acts on what it posted. */
const COMMANDS = { deployments: 'watch', reachability: 'guard' } as const;

/** "I'm on it", "Take over" and "Hand back" of a failing root message. */
export const OWNER_ACTIONS: readonly Action[] = [ownerAction('claim', true), ownerAction('release', false)];

function ownerAction(verb: string, isOnIt: boolean): Action {
  return {
    actionId: `episode:${verb}`,
    role: 'member',
    durable: true,
    change: `episode ${verb}`,
    async run(value, { caller: { user, channel }, workspace }) {
      const { owner: seen, ...episode } = fromButton(EpisodeButton, value);
      const { subject } = (await episodeRecords(workspace.store).get(episode.key)) ?? {};
      if (subject === undefined) throw isOver();
      const wanted = { user, command: COMMANDS[subject.kind], role: 'member' } as const;
      const refusal = await refusalOf(workspace, { ...wanted, channels: [channel, subject.channel] });
      if (refusal !== undefined) throw refusal;
      const change = await changeOwner(workspace, { ...episode, seen }, { user, isOnIt });
      if (change.kind === 'over') throw isOver();
      if (change.kind === 'lost') throw new UserError(`<@${change.owner}> is on it.`);
      return { kind: 'nothing', audit: { target: subject.name, where: subject.channel } };
    },
  };
}

function isOver(): UserError {
  return new UserError('This failure is over, so nobody has to be on it.');
}
