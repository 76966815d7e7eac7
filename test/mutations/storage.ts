import type { Mutation } from './mutation.ts';

const LIFECYCLE = 'src/listeners/install/lifecycle.ts';
const SEALER = 'src/store/sealer.ts';
const DELIVER = 'src/scheduler/deliver.ts';
const UNINSTALL_TEST = 'test/security/uninstall.test.ts';
const SEALING_TEST = 'test/store/sealing.test.ts';
const LIFECYCLE_TEST = 'test/listeners/install/lifecycle.test.ts';
const DELIVER_TEST = 'test/scheduler/deliver.test.ts';

/** What is kept: seals, the end of an installation, orders, deliveries, schedules. */
export const STORAGE: readonly Mutation[] = [
  {
    name: 'an API key is not bound to its account',
    file: 'src/workspace/account-keys.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    from: 'return { record: `accounts/${keyId(key)}`,',
    to: "return { record: key === undefined ? '' : 'accounts',",
    tests: ['test/listeners/doors.test.ts'],
    only: 'its own account',
  },
  {
    name: 'the tokens of a link are not bound to their person',
    file: 'src/workspace/user-links.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    from: 'return { record: `links/${user}`,',
    to: "return { record: user === undefined ? '' : 'links',",
    tests: ['test/listeners/link/link.test.ts'],
    only: 'for that person only',
  },
  {
    name: 'a seal opens in another record',
    file: SEALER,
    from: 'return [VERSION, place.workspace, place.record, place.field];',
    to: 'return [VERSION, place.workspace, place.field];',
    tests: [SEALING_TEST],
  },
  {
    name: 'a seal opens in another field',
    file: SEALER,
    from: 'return [VERSION, place.workspace, place.record, place.field];',
    to: 'return [VERSION, place.workspace, place.record];',
    tests: [SEALING_TEST],
  },
  {
    name: 'what was filled into a form is stored in plain text',
    file: 'src/listeners/durable-forms.ts',
    from: 'const data = { caller: storedCaller(caller), form, sealed };',
    to: 'const data = { caller: { ...storedCaller(caller), messageTs: JSON.stringify(state) }, form, sealed };',
    tests: ['test/process/forms.test.ts'],
    only: 'although it was acknowledged as late',
  },
  {
    name: 'a sealed field is not known to the check of a restore',
    file: 'src/workspace/sealed-fields.ts',
    from: "  'link-states': { key: 'sealedVerifier', field: 'verifier' },\n",
    to: '',
    tests: ['test/security/sealed.test.ts'],
  },
  {
    name: 'another key under the id of a former one is not noticed',
    file: 'src/store/key-proofs.ts',
    from: 'if (standing !== undefined) return opens(key, standing);',
    to: 'if (standing !== undefined) return true;',
    tests: [SEALING_TEST, 'test/process/start.test.ts'],
  },
  {
    name: 'a record that cannot be read keeps the others from being read',
    file: 'src/store/keyv-store.ts',
    from: 'if (error instanceof DocumentUnreadable) return [];',
    to: '',
    tests: ['test/store/quarantine.test.ts', 'test/trust/quarantine.test.ts'],
  },
  {
    name: 'an uninstall leaves link tickets',
    file: LIFECYCLE,
    from: 'await parts.linkRequests.erase(workspace);',
    to: '',
    tests: [UNINSTALL_TEST],
    only: 'on sqlite',
  },
  {
    name: 'an uninstall leaves jobs and schedules',
    file: LIFECYCLE,
    from: 'await parts.engine.erase(workspace);',
    to: '',
    tests: [UNINSTALL_TEST],
    only: 'on sqlite',
  },
  {
    name: 'an uninstall leaves documents and keys',
    file: LIFECYCLE,
    from: 'await parts.store.erase(workspace);',
    to: '',
    tests: [LIFECYCLE_TEST],
  },
  {
    name: 'a late uninstall ends an installation that is newer',
    file: LIFECYCLE,
    from: '(installedAt) => installedAt > happenedAt(body)',
    to: '(installedAt) => installedAt < 0 && happenedAt(body) < 0',
    tests: [LIFECYCLE_TEST],
  },
  {
    name: 'documents are written after the uninstall, on SQLite',
    file: 'src/store/sqlite.ts',
    from: "t.namespace = '' AND t.value = ?))`;",
    to: "t.namespace = '' AND t.value = ?) OR 1)`;",
    tests: [UNINSTALL_TEST],
    only: 'on sqlite',
  },
  {
    name: 'documents are written after the uninstall, on Postgres',
    file: 'src/store/postgres.ts',
    from: 'AND t.value = $2 FOR KEY SHARE))`;',
    to: 'AND t.value = $2 FOR KEY SHARE) OR true)`;',
    tests: [UNINSTALL_TEST],
    only: 'on postgres',
  },
  {
    name: 'jobs are stored after the uninstall, on SQLite',
    file: 'src/jobs/sqlite-jobs.ts',
    from: 'const standing = [during?.key ?? null, during?.key ?? null, during?.text ?? null];',
    to: 'const standing = [null, during?.key ?? null, during?.text ?? null];',
    tests: [UNINSTALL_TEST],
    only: 'on sqlite',
  },
  {
    name: 'jobs are stored after the uninstall, on Postgres',
    file: 'src/jobs/pg-boss-standing.ts',
    from: 'during === undefined || standing.get(during.key) === during.text;',
    to: 'during === undefined || standing !== undefined;',
    tests: [UNINSTALL_TEST],
    only: 'on postgres',
  },
  {
    name: 'the order of a server is not marked before it leaves',
    file: 'src/scheduler/servers/add-server.ts',
    from: 'if (!asked) await save({ asked: true, namesakes: await namesakesOf(workspace, order) });',
    to: 'void namesakesOf;',
    tests: ['test/process/doubles.test.ts'],
    only: 'to the order of a server',
  },
  {
    name: 'an older server of the same name is taken for the one that was ordered',
    file: 'src/scheduler/servers/find-ordered.ts',
    from: '!namesakes.includes(identifier) && protocol_type',
    to: 'identifier !== undefined && protocol_type',
    tests: ['test/commands/servers/add.test.ts'],
    only: 'takes no older server',
  },
  {
    name: 'a delivery is not recorded before it is sent',
    file: DELIVER,
    from: "await write({ state: 'posting' });",
    to: '',
    tests: [DELIVER_TEST],
  },
  {
    name: 'a delivery is not recorded after it was sent',
    file: DELIVER,
    from: "await write({ state: 'posted', ts: shown.ts });",
    to: '',
    tests: [DELIVER_TEST],
  },
  {
    name: 'a delivery that is sent again has another name',
    file: DELIVER,
    from: 'const clientMsgId = postId(workspace.id, id);',
    to: 'const clientMsgId = postId(workspace.id, id, String(Math.random()));',
    tests: [DELIVER_TEST],
  },
  {
    name: 'a repeated delivery is not counted',
    file: DELIVER,
    from: 'if (before !== undefined) countRepeated(workspace, { channel, delivery: id });',
    to: 'void countRepeated;',
    tests: [DELIVER_TEST],
  },
  {
    name: 'a root message that may stand twice is not counted',
    file: 'src/scheduler/test-access/start-test.ts',
    from: 'if (maybeTwice.length > 0) countRepeated(workspace, { channel, delivery: clientMsgId });',
    to: 'void countRepeated;',
    tests: ['test/process/doubles.test.ts'],
    only: 'root message of a workflow',
  },
  {
    name: 'a slot is marked done before its job is stored, on SQLite',
    file: 'src/jobs/sqlite-jobs.ts',
    from: 'advance: async (advances) => inTransaction(db, () => advances.forEach(advance)),',
    to: 'advance: async (advances) => advances.forEach(advance),',
    tests: ['test/jobs/backend.test.ts'],
  },
  {
    name: 'a slot is marked done before its job is stored, on Postgres',
    file: 'src/jobs/pg-boss-jobs.ts',
    from: 'await queue.insertOccurrences(sent, db);',
    to: 'setImmediate(() => void inTransaction(boss, (own) => queue.insertOccurrences(sent, own)).catch(() => undefined));',
    tests: ['test/jobs/backend.test.ts'],
  },
  {
    name: 'one workspace may take all there is to run',
    file: 'src/jobs/shares.ts',
    from: 'if (holding.running >= Math.min(share, this.#free)) return false;',
    to: 'if (holding.running >= share + this.#free + this.#concurrency) return false;',
    tests: ['test/jobs/shares.test.ts'],
  },
];
