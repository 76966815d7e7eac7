import { Document, Scalar, visit } from 'yaml';
import { z } from 'zod';
import { escapeControls } from '../core/json.ts';
import { type Program, UsageError } from '../program.ts';
import type { OpenStore } from '../store/open-store.ts';
import { DATA_KEYS, GLOBAL, StoreError } from '../store/store.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { withStore } from './side.ts';
import { DEFAULT_STORE, describeStore, expectThere } from './store-address.ts';

export const EXPORT: Program = {
  command: 'deckhand export',
  options: { workspace: { type: 'string' } },
  help: `Usage: deckhand export [--workspace <id>]

Prints what people have set up, as YAML that deckhand apply takes: roles, the settings of channels, which commands may run there,
digests, guards, watches and invoice notices. Never a key. Deckhand may be running. Without --workspace it prints each workspace of the
store as a document of its own.
`,
  async run({ env, words, options: { workspace } }) {
    if (words.length > 0) throw new UsageError('Give nothing behind the name');
    const url = env.STORE_URL || DEFAULT_STORE;
    expectThere(url);
    return withStore(url, 'read', async (store) => {
      const all = await listWorkspaces(store);
      const meant = all.filter((id) => workspace === undefined || id === workspace);
      if (meant.length === 0)
        throw new StoreError(`${describeStore(url)} has nothing of ${workspace ?? 'any workspace'}.`);
      const read = await Promise.all(meant.map((id) => readConfiguration(store.of(id), id)));
      return read.map(printYaml).join('---\n');
    });
  },
};

/** YAML that `apply` takes: without aliases, and with quotes around what is escaped. */
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

/** Those that have a document, or a key for one. */
export async function listWorkspaces({ database, of }: OpenStore): Promise<string[]> {
  const keyed = await of(GLOBAL).collection(DATA_KEYS, z.unknown()).list();
  const found = new Set(keyed.map(({ id }) => id));
  for (let from = ''; ; ) {
    const [row] = await database.range({ from, to: '\x7f', limit: 1 });
    const workspace = row?.key.split('/')[0];
    if (workspace === undefined) return [...found].toSorted();
    if (workspace !== GLOBAL) found.add(workspace);
    // Behind all that begins with it and a slash.
    from = `${workspace}0`;
  }
}
