import { Document, Scalar, visit } from 'yaml';
import { z } from 'zod';
import { StoreError } from '../core/errors.ts';
import { escapeControls } from '../core/json.ts';
import { Channel } from '../records/channels.ts';
import {
  createSchedules,
  Digest,
  Guard,
  isPersonal,
  type ScheduleKind,
  Watch,
} from '../records/schedules.ts';
import type { OpenStore } from '../store/open-store.ts';
import { DATA_KEYS, GLOBAL, type WorkspaceStore } from '../store/store.ts';
import { GRANTS_ID, Grants } from '../workspace/roles.ts';
import type { Program } from './program.ts';
import { describeStore, existingStore, withStore } from './stores.ts';

const SlackId = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/, 'That is no id, as Slack gives it.');
const ShortId = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{1,19}$/,
    'An id has 2 to 20 small letters, digits and hyphens, and begins with a letter.',
  );
const Placed = z.object({ channel: SlackId, account: z.string() });
const Timed = { cadence: true, zone: true, account: true, project: true } as const;
const Ids = { channel: SlackId, createdBy: SlackId };
const DigestEntry = Digest.pick({ ...Timed, range: true, skipQuiet: true }).extend(Ids);
const GuardEntry = Guard.pick({ ...Timed, escalation: true }).extend(Ids);
const WatchEntry = Watch.pick({
  project: true,
  server: true,
  mode: true,
  hours: true,
  escalation: true,
}).extend({
  ...Placed.shape,
  createdBy: SlackId,
});
const NoticesEntry = Placed.extend({ createdBy: SlackId });

/** Everything that people have set up in a workspace, as its records hold it. A file may leave sections out. */
export const Configuration = z.object({
  workspace: SlackId,
  roles: Grants.omit({ changedBy: true, changedAt: true }).optional(),
  channels: z.record(SlackId, Channel).optional(),
  digests: z.record(ShortId, DigestEntry).optional(),
  guards: z.record(ShortId, GuardEntry).optional(),
  watches: z.record(ShortId, WatchEntry).optional(),
  /** Keys are made by `feedPlace`. */
  notices: z.record(z.string(), NoticesEntry).optional(),
});
export type Configuration = z.infer<typeof Configuration>;

export async function readConfiguration(store: WorkspaceStore, workspace: string): Promise<Configuration> {
  const channels = await store.collection('channels', Channel).list();
  const schedules = await createSchedules(store).all();
  // A person's own watches are private.
  const pick = (kind: ScheduleKind): Array<[string, unknown]> =>
    schedules.filter((one) => one.kind === kind && !isPersonal(one)).map((one) => [one.id, one]);
  const notices = schedules.filter(({ kind }) => kind === 'invoices');
  const hasSettings = ({ doc }: { doc: Channel }): boolean => Object.keys(doc).length > 0;
  return Configuration.parse({
    workspace,
    roles: await store.collection('roles', Grants).get(GRANTS_ID),
    channels: inOrder(channels.filter(hasSettings).map(({ id, doc }) => [id, doc])),
    digests: inOrder(pick('digest')),
    guards: inOrder(pick('guard')),
    watches: inOrder(pick('watch')),
    notices: inOrder(notices.map((one) => [one.id, one])),
  });
}

function inOrder(entries: Array<[string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

export const EXPORT: Program = {
  command: 'deckhand export',
  options: { workspace: { type: 'string' } },
  help: `Usage: deckhand export [--workspace <id>]

Prints what people have set up, as YAML for deckhand apply: roles, the settings of channels, which commands may run there,
digests, guards, watches and invoice notices. It never prints a key. Deckhand may be running. Without --workspace it prints
each workspace of the store as a document of its own.
`,
  async run({ env, options: { workspace } }) {
    const url = existingStore(env);
    return withStore(url, 'read', async (store) => {
      const all = await listWorkspaces(store);
      const chosen = all.filter((id) => workspace === undefined || id === workspace);
      if (chosen.length === 0)
        throw new StoreError(`${describeStore(url)} has nothing of ${workspace ?? 'any workspace'}.`);
      const read = await Promise.all(chosen.map((id) => readConfiguration(store.of(id), id)));
      return read.map(printYaml).join('---\n');
    });
  },
};

/** Prints YAML for `apply`: without aliases, and with quotes around escaped text. */
function printYaml(configuration: Configuration): string {
  const document = new Document(configuration, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && escapeControls(scalar.value) !== scalar.value)
        scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Lists the workspaces with a document or a data key. */
export async function listWorkspaces({ database, of }: OpenStore): Promise<string[]> {
  const keyed = await of(GLOBAL).collection(DATA_KEYS, z.unknown()).list();
  const workspaces = new Set(keyed.map(({ id }) => id));
  for (let from = ''; ; ) {
    const [row] = await database.range({ from, to: '\x7f', limit: 1 });
    const workspace = row?.key.split('/')[0];
    if (workspace === undefined) return [...workspaces].toSorted();
    if (workspace !== GLOBAL) workspaces.add(workspace);
    // The character after the slash, so the next workspace.
    from = `${workspace}0`;
  }
}
