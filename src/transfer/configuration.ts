import { z } from 'zod';
import { billingChannels } from '../records/billing.ts';
import { Channel } from '../records/channels.ts';
import { createDigests, Digest } from '../records/digests.ts';
import { createGuards, Guard } from '../records/guards.ts';
import { feedChannelId } from '../records/schedules.ts';
import { listWatches, Watch } from '../records/watches.ts';
import type { WorkspaceStore } from '../store/store.ts';
import { GRANTS_ID, Grants } from '../workspace/roles.ts';

const SlackId = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/, 'That is no id, as Slack gives it.');
const ShortId = z.string().regex(/^[a-z][a-z0-9-]{1,19}$/, 'An id has small letters, digits and hyphens.');
const Placed = z.object({ channel: SlackId, account: z.string() });
const Timed = { cadence: true, zone: true, account: true, project: true } as const;
const Ids = { channel: SlackId, setUpBy: SlackId };
const DigestEntry = Digest.pick({ ...Timed, range: true, skipQuiet: true }).extend(Ids);
const GuardEntry = Guard.pick(Timed).extend(Ids);
const WatchEntry = Watch.pick({ project: true, server: true, mode: true, hours: true }).extend({
  ...Placed.shape,
  setUpBy: SlackId,
});
const NoticesEntry = Placed.extend({ setBy: SlackId });

/** What people have set up in a workspace, as its records have it. A file may leave sections out. */
export const Configuration = z.object({
  workspace: SlackId,
  roles: Grants.omit({ setBy: true, setAt: true }).optional(),
  channels: z.record(SlackId, Channel).optional(),
  digests: z.record(ShortId, DigestEntry).optional(),
  guards: z.record(ShortId, GuardEntry).optional(),
  watches: z.record(ShortId, WatchEntry).optional(),
  /** By `feedChannelId`. */
  notices: z.record(z.string(), NoticesEntry).optional(),
});
export type Configuration = z.infer<typeof Configuration>;

/** What stands in the store. */
export async function readConfiguration(store: WorkspaceStore, workspace: string): Promise<Configuration> {
  const channels = await store.collection('channels', Channel).list();
  const digests = await createDigests(store).list();
  const guards = await createGuards(store).list();
  // Those of one's own deployments are nobody else's matter.
  const watches = (await listWatches(store)).filter(({ watch }) => watch.person === undefined);
  const notices = await billingChannels(store).list();
  const isSet = ({ doc }: { doc: Channel }): boolean => Object.keys(doc).length > 0;
  return Configuration.parse({
    workspace,
    roles: await store.collection('roles', Grants).get(GRANTS_ID),
    channels: inOrder(channels.filter(isSet).map(({ id, doc }) => [id, doc])),
    digests: inOrder(digests.map((digest) => [digest.id, digest])),
    guards: inOrder(guards.map((guard) => [guard.id, guard])),
    watches: inOrder(watches.map(({ watch, ...placed }) => [watch.id, { ...placed, ...watch }])),
    notices: inOrder(notices.map(({ doc }) => [feedChannelId(doc), doc])),
  });
}

function inOrder(entries: Array<[string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
