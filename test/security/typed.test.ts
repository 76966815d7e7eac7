import { expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test as base } from '../support/fixtures.ts';
import { byLength } from '../support/length.ts';
import { sendClick, sendForm, sendPayload } from '../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

const test = base.extend('worldOptions', { env: { LOG_LEVEL: 'trace' } }).extend('connected', true);

/** As long as a key, so that the scrubber would find it where it stands alone; with a full stop or in pieces it would not. */
const KEY = 'PlantedKeyPlantedKeyPlantedKeyPlantedKey';
const WAYS = [
  `${KEY}.`,
  `key=${KEY.slice(0, 39)}`,
  `${KEY.slice(0, 20)} ${KEY.slice(20)}`,
  `"${KEY}-${KEY}"`,
  // Longer than the keys of the store may be.
  `é${KEY}`.repeat(50),
];
const WORDS = ['', 'storefront ', '--account ', '--'];

/** Each way after each of the words; in the short form each way and each of the words once, in turn. */
function linesOf(command: number): Array<{ way: string; text: string }> {
  return WAYS.flatMap((way, at) => {
    const words = byLength([WORDS[(command + at) % WORDS.length]], WORDS);
    return words.map((before) => ({ way, text: `${before}${way}` }));
  });
}

test('nothing that is typed after any command, or into any form, is in the log or a bug', async ({
  world,
}) => {
  const ann = world.as('admin');
  for (const [at, { name }] of world.app.commands.entries())
    for (const line of linesOf(at)) {
      await ann.command(CHANNEL, `/deckhand ${name} ${line.text}`);
      for (const { id, content } of ann.openViews().toReversed()) {
        const typed = content.blocks.flatMap(({ block_id: block, type }) =>
          type === 'input' && block !== undefined ? [[block, line.way] as const] : [],
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
  expect(world.logs.filter((line) => line.includes('"event":"bug"'))).toEqual([]);
  expect(world.logs.filter((line) => line.includes('"event":"refused"')).length).toBeGreaterThan(50);
});

test('nothing of a form, button or shortcut that Deckhand does not have is in the log', async ({ world }) => {
  const word = 'CanaryWordOfSomebody';
  const who = { team: { id: TEAM }, user: { id: PEOPLE.admin, team_id: TEAM }, trigger_id: 'forged' };
  await sendClick(world, word);
  await sendForm(world, word);
  await sendPayload(world, { type: 'shortcut', callback_id: word, ...who });
  await ask(world, '/deckhand help', 'admin');
  await world.logged('"view":"unknown"');
  expect(world.logs.filter((line) => line.includes(word))).toEqual([]);
});
