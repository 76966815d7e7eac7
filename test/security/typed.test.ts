import { expect } from 'vitest';
import { test as base } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

const test = base.extend('worldOptions', { env: { LOG_LEVEL: 'trace' } }).extend('connected', true);

/** As long as a key, so that the scrubber would find it where it stands alone; with a full stop or in pieces it would not. */
const KEY = 'PlantedKeyPlantedKeyPlantedKeyPlantedKey';
const WAYS = [
  `${KEY}.`,
  `key=${KEY.slice(0, 39)}`,
  `${KEY.slice(0, 20)} ${KEY.slice(20)}`,
  `"${KEY}-${KEY}"`,
];

test('nothing that is typed after any command, or into any form, is in the log', async ({ world }) => {
  const ann = world.as('admin');
  for (const { name } of world.app.commands)
    for (const way of WAYS)
      for (const line of [way, `storefront ${way}`, `--account ${way}`, `--${way}`]) {
        await ann.command(CHANNEL, `/deckhand ${name} ${line}`);
        for (const { id, content } of ann.openViews().toReversed()) {
          const typed = content.blocks.flatMap(({ block_id: block, type }) =>
            type === 'input' && block !== undefined ? [[block, way] as const] : [],
          );
          await ann.submit(String(content.callback_id), Object.fromEntries(typed)).catch(() => undefined);
          await ann.close(id).catch(() => undefined);
        }
      }
  await ann.command(CHANNEL, `/deckhand ${KEY}`);
  await world.slack.until(() => world.slack.ephemerals(TEAM, PEOPLE.admin).length > 100);
  await world.app.stop(5_000);
  const lines = world.logs.filter((line) => /Planted|Key?Pla|yPlant/.test(line));
  expect(lines).toEqual([]);
  expect(world.logs.filter((line) => line.includes('"event":"refused"')).length).toBeGreaterThan(50);
});
