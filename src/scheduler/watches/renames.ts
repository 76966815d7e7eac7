import { AccountFailure } from '../../core/errors.ts';
import { spellName } from '../../core/names.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { Account } from '../../records/accounts.ts';
import type { Watch } from '../../records/schedules.ts';
import { makePersonKey } from '../../records/service-people.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { getProfile } from '../../service/profile.ts';
import { mayBeRenamedMessage, renamedMessage } from '../../views/accounts/identity-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from '../schedules/pause-schedule.ts';

/** How long Deckhand does not ask again whether a name is the person's. */
const ASKED_MS = 30 * DAY_MS;

/**
 * Follows a person whom the service has renamed, because a personal watch knows them by name alone. Their own
 * key tells their present name. Without one, Deckhand asks them about a new name that resembles theirs.
 */
export async function followRenamed(
  workspace: Workspace,
  account: string,
  watches: readonly Watch[],
  fresh: readonly ActivityEvent[],
): Promise<void> {
  const users = new Set(watches.flatMap(({ person }) => person ?? []));
  if (users.size === 0) return;
  const mentions = await workspace.names.mentions(account);
  const isUnclaimed = (name: string): boolean => name !== '' && !mentions.has(makePersonKey(name));
  const names = [...new Set(fresh.map((event) => event.user ?? ''))].filter(isUnclaimed);
  if (names.length === 0) return;
  for (const { user, name } of await workspace.names.list(account))
    if (users.has(user)) await followPerson(workspace, { account, user, before: name }, names);
}

async function followPerson(
  workspace: Workspace,
  about: { account: string; user: string; before: string },
  names: readonly string[],
): Promise<void> {
  const { account, user, before } = about;
  if ((await workspace.roles.excluded(user)) !== undefined) return;
  const key = await workspace.accounts.get(account, { user });
  const present = key?.purpose === 'mine' ? await readOwnName(workspace, key) : undefined;
  if (present === undefined) return askAbout(workspace, about, names);
  const name = names.find((one) => makePersonKey(one) === makePersonKey(present));
  if (name === undefined) return;
  await workspace.names.claim(account, user, name);
  const message = renamedMessage(account, before, name);
  await notifyOwner(workspace, { id: `renamed ${account} ${user} ${makePersonKey(name)}`, user, message });
}

/** Returns undefined if the service does not tell. */
async function readOwnName({ accounts }: Workspace, key: Account): Promise<string | undefined> {
  try {
    const { first_name, last_name } = await accounts.use(key, (client) => getProfile(client));
    return [first_name, last_name].filter(Boolean).join(' ') || undefined;
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    return undefined;
  }
}

async function askAbout(
  workspace: Workspace,
  { account, user, before }: { account: string; user: string; before: string },
  names: readonly string[],
): Promise<void> {
  for (const name of names.filter((one) => sharesWord(one, before))) {
    const id = `renamed? ${account} ${user} ${makePersonKey(name)}`;
    if (!(await workspace.once([id], ASKED_MS, id))) continue;
    await notifyOwner(workspace, { id, user, message: mayBeRenamedMessage(account, before, name) });
  }
}

/** True if two names share a first or last name. */
function sharesWord(one: string, other: string): boolean {
  const words = new Set(spellName(one).split(' '));
  return spellName(other)
    .split(' ')
    .some((word) => word.length > 1 && words.has(word));
}
