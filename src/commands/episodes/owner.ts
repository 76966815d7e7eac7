import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { episodeRecords, type Verb } from '../../records/episodes.ts';
import { changeOwner } from '../../scheduler/episodes/episodes.ts';
import type { Action } from '../command.ts';
import { fromButton } from '../command.ts';
import { refusalOf } from '../permission.ts';

/** The episode, and who was on it when the button was drawn. */
const EpisodeButton = z.object({ key: z.string(), id: z.string(), owner: z.string().optional() });

/** Where the command is switched off, nobody acts on what it posted. */
const COMMANDS = { deployments: 'watch', reachability: 'guard' } as const;

/** "I'm on it", "Take over", "Hand back" and "Close" of a failing root message. */
export const OWNER_ACTIONS: readonly Action[] = (['claim', 'release', 'close'] as const).map(ownerAction);

function ownerAction(verb: Verb): Action {
  return {
    actionId: `episode:${verb}`,
    role: 'member',
    durable: true,
    change: `episode ${verb}`,
    async run(value, { caller: { user, channel }, workspace }) {
      const { owner: seen, ...episode } = fromButton(EpisodeButton, value);
      const record = await episodeRecords(workspace.store).get(episode.key);
      const clicked = record?.episodes.find(({ id }) => id === episode.id);
      if (record === undefined || clicked === undefined) throw isOver(undefined);
      const { subject } = record;
      const { owner, ending } = clicked;
      // Whoever is on a failure may close it; one whom somebody took over from is told who is on it now.
      const isTheirs = owner === user || (owner !== undefined && seen === user) || ending !== undefined;
      const role = verb !== 'close' || isTheirs ? 'member' : 'operator';
      const wanted = { user, command: COMMANDS[subject.kind], role } as const;
      const refusal = await refusalOf(workspace, { ...wanted, channels: [channel, subject.channel] });
      if (refusal !== undefined) throw refusal;
      const change = await changeOwner(workspace, { ...episode, seen }, { user, verb });
      if (change.kind === 'over') throw isOver(change.by);
      if (change.kind === 'lost') throw new UserError(`<@${change.owner}> is on it.`);
      return { kind: 'nothing', audit: { target: subject.name, where: subject.channel } };
    },
  };
}

/** @param by who closed it, if it did not end by itself */
function isOver(by: string | undefined): UserError {
  const how = by === undefined ? 'This failure is over' : `<@${by}> closed this failure`;
  return new UserError(`${how}, so nobody has to be on it.`);
}
