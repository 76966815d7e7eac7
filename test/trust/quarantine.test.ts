import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test as base } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

const test = base.extend('connected', () => true);

test('bad records in every collection keep neither Deckhand from starting nor the good ones from work', async ({
  world,
}) => {
  await ask(world, '/deckhand use storefront');
  await world.restart(async () => {
    const db = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
    const rows = db.prepare('SELECT key FROM keyv').all() as Array<{ key: string }>;
    const collections = new Set([
      ...rows.map(({ key }) => key.split('/')[1] ?? ''),
      'digests',
      'watched-channels',
      'billing-channels',
    ]);
    const plant = db.prepare("INSERT INTO keyv (key, value, namespace) VALUES (?, ?, '')");
    for (const collection of collections)
      for (const [n, value] of [
        'no JSON',
        '{"value":{"doc":{"state":"from the future","connectedBy":"U0ANN"}}}',
      ].entries())
        plant.run(`${TEAM}/${collection}/bad${n}`, value);
    plant.run('-/data-keys/T0GONE', '{"value":{"doc":{"wrappedBy":7}}}');
    db.close();
  });

  expect(await ask(world, '/deckhand whoami')).toContain('acme');
  await world.as('admin').command(CHANNEL, '/deckhand digest list all');
  await world.logged('"kind":"digests"');
  const said = await ask(world, '/deckhand doctor');
  expect(said).toContain('Record `bad1` of `accounts`');
  expect(said).toContain('Record `bad1` of `digests`');
  expect(said).toContain('*Account `acme`*  the key works');
  await world.logged('"event":"record_quarantined"');
  const metrics = await (await fetch(`${world.origin}/metrics`)).text();
  expect(metrics).toMatch(/^deckhand_quarantined_total{kind="document",of="accounts"} 2$/m);
  expect(metrics).toMatch(/^deckhand_quarantined_total{kind="document",of="data-keys"} 1$/m);
  await world.slack.until(() =>
    world.slack.dms(TEAM, PEOPLE.admin).some(({ text }) => text.includes('cannot read a record')),
  );
});

test('jobs and schedules that cannot be read are counted by `doctor`, and their owners are told', async ({
  world,
}) => {
  await world.restart(async () => {
    const db = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
    const job = db.prepare(
      "INSERT INTO deckhand_jobs (queue, workspace, data, due, set_at) VALUES ('follow-test', ?, ?, 0, 0)",
    );
    job.run(TEAM, JSON.stringify({ workspace: TEAM, askedBy: PEOPLE.billing }));
    job.run(TEAM, 'no JSON');
    const schedule = db.prepare(
      "INSERT INTO deckhand_schedules VALUES (?, ?, '0 9 * * *', 'Mars/Base', 'digests', ?, 0)",
    );
    for (const team of [TEAM, 'T0OTHER'])
      schedule.run(team, 'digest d1', JSON.stringify({ workspace: team, digest: 'd1' }));
    db.prepare("INSERT INTO keyv (key, value, namespace) VALUES (?, ?, '')").run(
      `${TEAM}/digests/d1`,
      JSON.stringify({ value: { doc: { setUpBy: PEOPLE.member } } }),
    );
    db.close();
  });

  const told = (who: keyof typeof PEOPLE, what: string) =>
    world.slack.until(() => world.slack.dms(TEAM, PEOPLE[who]).some(({ text }) => text.includes(what)), {
      what: `${what} to ${who}`,
    });
  await told('billing', 'cannot read a job of `follow-test`');
  await told('member', 'cannot read a schedule of `digests`');
  const said = await ask(world, '/deckhand doctor');
  expect(said).toContain('*2 jobs of `follow-test`*  cannot be read');
  expect(said).toContain('*1 schedule of `digests`*  cannot be read');
});

test('a stored key that does not open is said as such, and goes away by connecting again', async ({
  world,
}) => {
  await world.restart(async () => {
    const db = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
    const { changes } = db
      .prepare(
        'UPDATE keyv SET value = replace(value, \'"sealedKey":"v1.\', \'"sealedKey":"v1.x\') WHERE key = ?',
      )
      .run(`${TEAM}/accounts/acme`);
    expect(changes).toBe(1);
    db.close();
  });

  const said = await ask(world, '/deckhand projects');
  expect(said).toContain('The stored key of the account `acme` cannot be read.');
  expect(said).toContain('Connect again with `/deckhand connect acme`');
  expect(await ask(world, '/deckhand doctor')).toContain('Record `acme` of `accounts`');
  await world.slack.until(() =>
    world.slack
      .dms(TEAM, PEOPLE.admin)
      .some(({ text }) => text.includes('cannot read a record of `accounts`')),
  );
  const metrics = await (await fetch(`${world.origin}/metrics`)).text();
  expect(metrics).toMatch(/^deckhand_quarantined_total{kind="document",of="accounts"} 1$/m);
  expect(world.logs.join('\n')).not.toContain('"event":"bug"');

  await world.connect();
  expect(await ask(world, '/deckhand projects')).toContain('Storefront');
  expect(await ask(world, '/deckhand doctor')).not.toContain('Record `acme`');
});
