import { isDirect } from '../../core/message.ts';
import type { Watch } from '../../records/schedules.ts';
import { createFindMentioned, type FindMentioned, makePersonKey } from '../../records/service-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';

type MentionSource = Pick<Workspace, 'names' | 'schedules'>;

/**
 * Reads whom the messages of an account mention.
 * @param watches all watches of the account; read if left out
 * @returns the same for a channel
 */
export async function readFindMentioned(
  { names, schedules }: MentionSource,
  account: string,
  watches?: readonly Watch[],
): Promise<(channel: string) => FindMentioned> {
  const all = watches ?? (await schedules.list('watch'));
  const direct = all.flatMap(({ account: of, person, state }) =>
    of === account && person !== undefined && state.kind === 'active' ? [person] : [],
  );
  const mentions = await names.mentions(account);
  const inChannels = createFindMentioned(await names.list(account), new Set(direct));
  const inDirect: FindMentioned = (name) => mentions.get(makePersonKey(name));
  return (channel) => (isDirect(channel) ? inDirect : inChannels);
}
