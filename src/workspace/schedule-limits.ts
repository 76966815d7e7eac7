import { UserError } from '../core/errors.ts';
import { billingChannels } from './billing.ts';
import { listWatches } from './watches.ts';
import type { Workspace } from './workspace.ts';

const MOST_IN_CHANNEL = 50;
const MOST_IN_WORKSPACE = 500;

/**
 * Within `SCHEDULES_LOCK`.
 * @param added how many are to be added
 * @throws UserError where the channel or the workspace would have more schedules than it may
 */
export async function expectRoomForSchedule(
  { digests, store }: Pick<Workspace, 'digests' | 'store'>,
  channel: string,
  added = 1,
): Promise<void> {
  const [posted, watched, billed] = await Promise.all([
    digests.list(),
    listWatches(store),
    billingChannels(store).list(),
  ]);
  const channels = [...posted, ...watched, ...billed.map(({ doc }) => doc)].map((one) => one.channel);
  const here = channels.filter((one) => one === channel).length;
  if (here + added > MOST_IN_CHANNEL)
    throw new UserError(
      `This channel has ${here} schedules, and ${MOST_IN_CHANNEL} is the most.`,
      'digest list',
    );
  if (channels.length + added > MOST_IN_WORKSPACE)
    throw new UserError(
      `This workspace has ${channels.length} schedules, and ${MOST_IN_WORKSPACE} is the most.`,
      'digest list all',
    );
}
