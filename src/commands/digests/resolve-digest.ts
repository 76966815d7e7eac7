import { closest } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Digest } from '../../workspace/digests.ts';
import type { CommandContext } from '../command.ts';

/**
 * The digest of that id, in any channel; without one the channel's only one, or the only one that `fits`.
 * @throws UserError where the id is unknown, or several would do
 */
export async function digestOf(
  { caller, workspace }: CommandContext,
  named: string | undefined,
  fits: (digest: Digest) => boolean = () => true,
): Promise<Digest> {
  const all = await workspace.digests.list();
  const here = all.filter(({ channel }) => channel === caller.channel);
  if (named !== undefined) return findNamed(all, here, named);
  const [first] = here;
  if (first === undefined) throw new UserError('This channel has no digest yet.', 'digest add');
  const fitting = here.length === 1 ? here : here.filter(fits);
  const [only] = fitting;
  if (fitting.length === 1 && only !== undefined) return only;
  const ids = here.slice(0, 10).map(({ id }) => code(id));
  throw new UserError(`This channel has ${here.length} digests: ${ids.join(', ')}. Name one.`, 'digest list');
}

function findNamed(all: readonly Digest[], here: readonly Digest[], named: string): Digest {
  const wanted = named.toLowerCase();
  const found = all.find(({ id }) => id === wanted);
  if (found !== undefined) return found;
  const ids = (here.length > 0 ? here : all).map(({ id }) => id);
  const near = ids.length === 0 ? '' : ` Did you mean ${code(closest(wanted, ids))}?`;
  throw new UserError(`There is no digest ${code(named, 40)}.${near}`, 'digest list');
}
