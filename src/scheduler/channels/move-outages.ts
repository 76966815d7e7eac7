import type { ChannelMove } from '../../records/channels.ts';
import { episodeRecords, subjectKey } from '../../records/episodes.ts';
import {
  KEPT_MS,
  type Member,
  makePlace,
  type Outage,
  type OutagePlace,
  outagePlaces,
  placeKey,
} from '../../records/outages.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * Moves the outages of a channel, before their failures move. In another channel an open one gets a new message. Safe to
 * repeat.
 */
export async function moveOutages({ clock, store }: Workspace, move: ChannelMove): Promise<void> {
  const places = outagePlaces(store);
  for (const { id, doc } of await places.list()) {
    if (doc.channel !== move.from || doc.person !== undefined) continue;
    const place = { ...makePlace(doc), channel: move.to };
    const moved: Outage[] = [];
    for (const outage of doc.outages) {
      if (!move.isSameChannel && outage.endedAt !== undefined) continue;
      moved.push(await moveOutage({ store }, move, outage));
    }
    const isNew = (one: Outage, present: OutagePlace): boolean =>
      !present.outages.some((other) => other.id === one.id);
    await places.update(
      placeKey(place),
      (current = place) => ({
        ...current,
        outages: [...current.outages, ...moved.filter((one) => isNew(one, current))],
      }),
      clock.now() + KEPT_MS,
    );
    if (move.isSameChannel) await places.delete(id);
  }
}

async function moveOutage(
  { store }: Pick<Workspace, 'store'>,
  move: ChannelMove,
  outage: Outage,
): Promise<Outage> {
  const members: Member[] = [];
  for (const member of outage.members) {
    const subject = (await episodeRecords(store).get(member.key))?.subject;
    const key = subject === undefined ? member.key : subjectKey({ ...subject, channel: move.to });
    const episode = renameEpisode(member.episode, key, move);
    members.push(move.isSameChannel ? { ...member, key } : { key, episode });
  }
  const id = renameOutage(outage.id, move);
  if (move.isSameChannel) return { ...outage, id, members };
  const { root: _, idleSince: __, toldAt: ___, ...more } = outage;
  return { ...more, id, members, replies: [] };
}

/** Id of an episode after its move. Messages in another channel need ids of their own. @param key key of its subject there */
export function renameEpisode(id: string, key: string, { isSameChannel }: ChannelMove): string {
  return isSameChannel ? id : `${key} ${id.split(' ').slice(1).join(' ')}`;
}

/** Id of an outage after its move. */
export function renameOutage(id: string, { isSameChannel, to }: ChannelMove): string {
  return isSameChannel ? id : `${id} ${to}`;
}
