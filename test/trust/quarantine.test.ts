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
