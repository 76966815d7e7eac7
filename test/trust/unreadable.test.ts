import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test as base } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const test = base.extend('connected', () => true);

/** Changes the file while no process has it. */
function damage(world: TestWorld, change: (db: DatabaseSync) => void): Promise<void> {
  return world.restart(async () => {
    const db = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
    change(db);
    db.close();
  });
}

test('bad records in every collection keep neither Deckhand from starting nor the good ones from work', async ({
  world,
}) => {
  await ask(world, '/deckhand use storefront');
  await damage(world, (db) => {
    const rows = db.prepare('SELECT key FROM keyv').all() as Array<{ key: string }>;
    const collections = new Set([...rows.map(({ key }) => key.split('/')[1] ?? ''), 'schedules', 'feeds']);
    const plant = db.prepare("INSERT INTO keyv (key, value, namespace) VALUES (?, ?, '')");
    for (const collection of collections)
      for (const [n, value] of [
        'no JSON',
        '{"value":{"doc":{"state":"from the future","createdBy":"U0ANN"}}}',
      ].entries())
        for (const kind of collection === 'schedules' ? ['digest ', 'watch ', 'invoices '] : [''])
          plant.run(`${TEAM}/${collection}/${kind}bad${n}`, value);
    plant.run('-/data-keys/T0GONE', '{"value":{"doc":{"wrappedBy":7}}}');
  });

  expect(await ask(world, '/deckhand whoami')).toContain('acme');
  expect(await ask(world, '/deckhand digest list all', 'admin')).toContain('2 digests cannot be read');
  await world.logged('"kind":"schedules"');
  expect(await ask(world, '/deckhand watch list', 'admin')).toContain('2 watches cannot be read');
  const said = await ask(world, '/deckhand doctor');
  expect(said).toContain('Record `bad1` of `accounts`');
  expect(said).toContain('Record `digest bad1` of `schedules`');
  expect(said).toContain('*Account `acme`*  the key works');
  await world.logged('"event":"record_unreadable"');
  const metrics = await (await fetch(`${world.origin}/metrics`)).text();
  expect(metrics).toMatch(/^deckhand_unreadable_total{kind="document",of="accounts"} 2$/m);
  expect(metrics).toMatch(/^deckhand_unreadable_total{kind="document",of="data-keys"} 3$/m);
});

test('jobs that cannot be read, and a digest in an unknown zone, are listed by `doctor` and stop no others', async ({
  world,
}) => {
  const ann = world.as('admin');
  for (const time of ['10:00', '09:00']) await ann.command(CHANNEL, `/deckhand digest add daily ${time} UTC`);
  const { schedules } = world.app.workspaces.open(TEAM);
  await expect.poll(() => schedules.list('digest')).toHaveLength(2);
  const bad = (await schedules.list('digest')).find(({ cadence }) =>
    JSON.stringify(cadence).includes('10:00'),
  );
  await damage(world, (db) => {
    const job = db.prepare(
      "INSERT INTO deckhand_jobs (queue, workspace, data, due) VALUES ('follow-test', ?, ?, 0)",
    );
    job.run(TEAM, JSON.stringify({ workspace: TEAM, requestedBy: PEOPLE.billing }));
    job.run(TEAM, 'no JSON');
    db.exec(`UPDATE keyv SET value = replace(value, '"UTC"', '"Mars/Base"')
      WHERE key LIKE '%/schedules/%' AND value LIKE '%"10:00"%'`);
  });

  const said = await ask(world, '/deckhand doctor');
  expect(said).toContain('*2 jobs of `follow-test`*  cannot be read');
  await ann.command(CHANNEL, '/deckhand digest list');
  await world.logged('"kind":"schedules"');
  expect(await ask(world, '/deckhand doctor')).toContain(`Record \`digest ${bad?.id}\` of \`schedules\``);
  expect(world.logs.filter((line) => line.includes('job_unreadable'))).toHaveLength(2);
});

test('a stored key that does not open is said as such, and goes away by connecting again', async ({
  world,
}) => {
  await damage(world, (db) => {
    const { changes } = db
      .prepare(
        'UPDATE keyv SET value = replace(value, \'"sealedKey":"v1.\', \'"sealedKey":"v1.x\') WHERE key = ?',
      )
      .run(`${TEAM}/accounts/acme`);
    expect(changes).toBe(1);
  });

  const said = await ask(world, '/deckhand projects');
  expect(said).toContain('The stored key of the account `acme` cannot be read.');
  expect(said).toContain('An admin can connect it again with `/deckhand connect acme`');
  expect(await ask(world, '/deckhand doctor')).toMatch(/Account `acme`\*[^\n]*cannot be read/);
  const metrics = await (await fetch(`${world.origin}/metrics`)).text();
  expect(metrics).toMatch(/^deckhand_unreadable_total{kind="document",of="accounts"} 1$/m);
  expect(world.logs.join('\n')).not.toContain('"event":"bug"');

  await world.connect();
  expect(await ask(world, '/deckhand projects')).toContain('Storefront');
  expect(await ask(world, '/deckhand doctor')).toContain('*Account `acme`*  the key works');
});
