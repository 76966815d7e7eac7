import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ALL, readBack, withSide } from '../../src/cli/stores.ts';
import { pagesOf } from '../../src/store/documents.ts';
import { openForm } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { linkButton, openLinkable, openLinkBrowser } from '../support/linking.ts';
import { ACCOUNT, CREDENTIALS, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const root = join(import.meta.dirname, '..', '..');
const SEALED = /"v1\.([^".]+)\.[^".]+"/g;

/** Each seals something of its own; the tour below stores it. */
const SEALERS = [
  'src/listeners/pipeline/handle-submission.ts',
  'src/records/accounts.ts',
  'src/linking/link-requests.ts',
  'src/installing/oauth-installations.ts',
];

it('whatever is sealed is opened by the check of a restore and a migration, and follows a rotation', async () => {
  const installed = await openTestWorld({ byOauth: true });
  onTestFinished(() => installed.stop());
  await openBrowser(installed).install(TEAM, PEOPLE.admin);
  await installed.connect();
  await leaveForm(installed);
  const linked = await openLinkable({});
  onTestFinished(() => linked.stop());
  await link(linked);

  const stores = await Promise.all([installed, linked].map(sealedIn));
  const kinds = new Set(stores.flatMap(({ kinds: some }) => some));
  expect([...kinds].toSorted()).toEqual(['accounts', 'forms', 'installations', 'link-states']);
  for (const { sealed, opened, shut, strangers } of stores) {
    expect(shut).toEqual([]);
    expect(opened, 'every sealed value has a line in cli/stores.ts').toBe(sealed);
    expect(strangers, 'sealed by a data key, which a rotation wraps anew').toEqual([]);
  }
});

it('nothing is sealed but by those whose values the test above has seen', () => {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/store/**'] });
  const sealing = files.filter((file) =>
    /ealer(?:\.of\([^)]*\))?\.seal\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(sealing.toSorted()).toEqual(SEALERS.toSorted());
});

/** A form that is stored and waits for the service. */
async function leaveForm(world: TestWorld): Promise<void> {
  const ann = await openForm(world, 'connect');
  const fault = world.service.faults.add({ path: `/${ACCOUNT}/**`, delayMs: 60_000 });
  void ann.submit('connect', CREDENTIALS);
  await expect.poll(() => fault.hits()).toBeGreaterThan(0);
}

/** Ben is linked, and Ann is on her way. */
async function link(world: TestWorld): Promise<void> {
  const ben = openLinkBrowser(world);
  const away = await ben.go(await linkButton(world));
  await ben.open(await ben.decide(away.location, 'approve'));
  await openLinkBrowser(world).go(await linkButton(world, 'admin'));
}

/** The sealed values, their collections and queues, those that open, and ids of data keys that are not stored. */
async function sealedIn({ config }: TestWorld) {
  const found: Array<{ kind: string; key: string }> = [];
  const dataKeys = new Set<string>();
  const search = (kind: string, text: string): void => {
    for (const [, id = ''] of kind === 'data-keys' ? text.matchAll(/"id":"([^"]+)"/g) : []) dataKeys.add(id);
    for (const [, key = ''] of text.matchAll(SEALED)) found.push({ kind, key });
  };
  const { opened, shut } = await withSide(config.STORE_URL, 'read', async (side) => {
    for await (const rows of pagesOf(side.store.database, ALL))
      for (const { key, value } of rows) search(key.split('/')[1] ?? '', value);
    for await (const { queue, data } of side.jobs.all()) search(queue, data);
    return readBack(side, config.ENCRYPTION_KEYS);
  });
  return {
    sealed: found.length,
    kinds: found.map(({ kind }) => kind),
    opened,
    shut,
    strangers: found.flatMap(({ key }) => (dataKeys.has(key) ? [] : [key])),
  };
}
