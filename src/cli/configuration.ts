import { Document, Scalar, visit } from 'yaml';
import { z } from 'zod';
import { StoreError } from '../core/errors.ts';
import { escapeControls } from '../core/json.ts';
import { Channel } from '../records/channels.ts';
import { createSchedules, isPersonal, SCHEDULE_KINDS } from '../records/schedules.ts';
import type { OpenStore } from '../store/open-store.ts';
import { DATA_KEYS, GLOBAL, type WorkspaceStore } from '../store/store.ts';
import { SCHEDULE_FACES } from '../views/schedules/faces.ts';
import { GRANTS_ID, Grants } from '../workspace/role-holders.ts';
import type { Program } from './program.ts';
import { type Entry, SECTIONS, type SectionName, SlackId } from './sections.ts';
import { describeStore, existingStore, withStore } from './stores.ts';

type ScheduleShapes = Record<SectionName, z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodType<Entry>>>>;

const schedules = Object.fromEntries(
  SECTIONS.map(({ name, ids, entry }) => [name, z.record(ids, entry).optional()]),
) as ScheduleShapes;

/** Everything that people have set up in a workspace, as its records hold it. A file may leave sections out. */
export const Configuration = z.object({
  workspace: SlackId,
  roles: Grants.omit({ changedBy: true, changedAt: true }).optional(),
  channels: z.record(SlackId, Channel).optional(),
  ...schedules,
});
export interface Configuration extends z.infer<typeof Configuration> {}

/** Names of the sections with entries that may name an account and a project. */
export const PLACED_SECTIONS = ['channels', ...SECTIONS.map(({ name }) => name)] as const;

export async function readConfiguration(store: WorkspaceStore, workspace: string): Promise<Configuration> {
  const channels = await store.collection('channels', Channel).list();
  // A person's own watches are private.
  const schedules = (await createSchedules(store).all()).filter((one) => !isPersonal(one));
  const sections = SECTIONS.map(({ kind, name }) => {
    const entries = schedules
      .filter((one) => one.kind === kind)
      .map((one): [string, unknown] => [one.id, one]);
    return [name, inOrder(entries)] as const;
  });
  const hasSettings = ({ doc }: { doc: Channel }): boolean => Object.keys(doc).length > 0;
  return Configuration.parse({
    workspace,
    roles: await store.collection('roles', Grants).get(GRANTS_ID),
    channels: inOrder(channels.filter(hasSettings).map(({ id, doc }) => [id, doc])),
    ...Object.fromEntries(sections),
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
${listSchedules()}. It never prints a key. Deckhand may be running. Without --workspace it prints
each workspace of the store as a document of its own.
`,
  async main({ env, options: { workspace } }) {
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

/** "digests, guards, watches and invoice notices" */
function listSchedules(): string {
  return new Intl.ListFormat('en-GB').format(SCHEDULE_KINDS.map((kind) => SCHEDULE_FACES[kind].plural));
}

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
