import { closest } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { listWatches, type PlacedWatch } from '../../workspace/watches.ts';
import type { CommandContext } from '../command.ts';

/**
 * The watch of that id, in any channel, or this channel's of that project; without a name this channel's only one, or
 * the only one that `fits`.
 * @throws UserError where the name is unknown, or several would do
 */
export async function watchOf(
  { caller, workspace }: CommandContext,
  named: string | undefined,
  fits: (placed: PlacedWatch) => boolean = () => true,
): Promise<PlacedWatch> {
  const all = await listWatches(workspace.store);
  const here = all.filter(({ channel }) => channel === caller.channel);
  if (named !== undefined) return findNamed(all, here, named);
  if (here.length === 0) throw new UserError('Nothing is watched in this channel.', 'watch all failures');
  const fitting = here.length === 1 ? here : here.filter(fits);
  const [only] = fitting;
  if (fitting.length === 1 && only !== undefined) return only;
  const ids = here.slice(0, 10).map(({ watch }) => code(watch.id));
  throw new UserError(`This channel has ${here.length} watches: ${ids.join(', ')}. Name one.`, 'watch list');
}

function findNamed(all: readonly PlacedWatch[], here: readonly PlacedWatch[], named: string): PlacedWatch {
  const wanted = named.toLowerCase();
  const byId = all.find(({ watch }) => watch.id === wanted);
  if (byId !== undefined) return byId;
  const byProject = here.filter(({ watch: { project } }) =>
    [project?.permalink, project?.identifier, project?.name].some((key) => key?.toLowerCase() === wanted),
  );
  const [only] = byProject;
  if (byProject.length === 1 && only !== undefined) return only;
  const ids = (here.length > 0 ? here : all).map(({ watch }) => watch.id);
  const near = ids.length === 0 ? '' : ` Did you mean ${code(closest(wanted, ids))}?`;
  throw new UserError(`There is no watch ${code(named, 40)} here.${near}`, 'watch list');
}
