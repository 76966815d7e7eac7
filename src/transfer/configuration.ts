import { z } from 'zod';
import { Channel } from '../records/channels.ts';
import {
  createSchedules,
  Digest,
  Guard,
  isPersonal,
  type ScheduleKind,
  Watch,
} from '../records/schedules.ts';
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
  /** By `feedPlace`. */
  notices: z.record(z.string(), NoticesEntry).optional(),
});
export type Configuration = z.infer<typeof Configuration>;

/** What stands in the store. */
export async function readConfiguration(store: WorkspaceStore, workspace: string): Promise<Configuration> {
  const channels = await store.collection('channels', Channel).list();
  const schedules = await createSchedules(store).all();
  // Watches of one's own deployments are nobody else's matter.
  const pick = (kind: ScheduleKind): Array<[string, unknown]> =>
    schedules.filter((one) => one.kind === kind && !isPersonal(one)).map((one) => [one.id, one]);
  const notices = schedules.filter(({ kind }) => kind === 'invoices');
  const isSet = ({ doc }: { doc: Channel }): boolean => Object.keys(doc).length > 0;
  return Configuration.parse({
    workspace,
    roles: await store.collection('roles', Grants).get(GRANTS_ID),
    channels: inOrder(channels.filter(isSet).map(({ id, doc }) => [id, doc])),
    digests: inOrder(pick('digest')),
    guards: inOrder(pick('guard')),
    watches: inOrder(pick('watch')),
    notices: inOrder(notices.map((one) => [one.id, { ...one, setBy: one.setUpBy }])),
  });
}

function inOrder(entries: Array<[string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
