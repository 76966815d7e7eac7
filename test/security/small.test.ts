import { describe, expect } from 'vitest';
import { answerTo, ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { sendPayload } from '../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const bugs = ({ logs }: TestWorld) => logs.filter((line) => line.includes('"event":"bug"'));
const digests = (world: TestWorld) => world.app.workspaces.open(TEAM).schedules.list('digest');
let serial = 0;

/** A click as Slack signs it, whatever message it claims to come from. */
function forge(world: TestWorld, action_id: string, value: object) {
  serial += 1;
  return sendPayload(world, {
    type: 'block_actions',
    team: { id: TEAM },
    user: { id: PEOPLE.admin, team_id: TEAM },
    channel: { id: CHANNEL },
    trigger_id: `forged-${serial}`,
    response_url: `${world.slack.origin}/nowhere`,
    actions: [{ type: 'button', action_id, block_id: 'b', value: JSON.stringify(value), action_ts: '1' }],
  });
}

describe('an "Undo"', () => {
  test.override({ connected: true });

  /** What the buttons "Undo" of all messages carry. */
  function undos({ slack }: TestWorld): string[] {
    const shown = [...slack.messages(TEAM, CHANNEL), ...slack.ephemerals(TEAM, PEOPLE.admin)];
    const buttons = shown.flatMap(({ blocks }) =>
      (blocks ?? []).flatMap((block) =>
        block.type === 'actions' && Array.isArray(block.elements) ? (block.elements as object[]) : [],
      ),
    );
    return buttons.flatMap((one) =>
      'action_id' in one && one.action_id === 'digest:undo' && 'value' in one ? [String(one.value)] : [],
    );
  }

  /** Removes the one digest; what its "Undo" carries. */
  async function remove(world: TestWorld, id: string): Promise<{ removal: string }> {
    const before = undos(world);
    await world.as('admin').command(CHANNEL, `/deckhand digest remove ${id}`);
    await world.slack.until(async () => (await digests(world)).length === 0);
    const added = () => undos(world).find((value) => !before.includes(value));
    return JSON.parse(await world.slack.until(added, { what: 'an "Undo"' }));
  }

  test('is for one removal, once, and of its own kind', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 9:00 UTC');
    const [digest] = await world.slack.until(async () => {
      const all = await digests(world);
      return all.length === 1 ? all : undefined;
    });
    const first = await remove(world, digest?.id ?? '');

    expect(await answerTo(world, 'admin', () => forge(world, 'watch:undo', first))).toContain('undone once');
    expect(bugs(world)).toEqual([]);
    expect(await digests(world)).toEqual([]);

    await forge(world, 'digest:undo', first);
    await world.slack.until(async () => (await digests(world)).length === 1);
    const second = await remove(world, digest?.id ?? '');
    expect(second).not.toEqual(first);
    expect(await answerTo(world, 'admin', () => forge(world, 'digest:undo', first))).toContain('undone once');
    expect(await digests(world)).toEqual([]);
    await forge(world, 'digest:undo', second);
    await world.slack.until(async () => (await digests(world)).length === 1);
  });
});

describe('a digest whose zone Node does not know', () => {
  test.override({ connected: true });

  test('is listed as what it is, beside the others', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 9:00 UTC');
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 9:00 Europe/Lisbon');
    await world.slack.until(async () => (await digests(world)).length === 2);
    const [first] = await digests(world);
    const { schedules: stored } = world.app.workspaces.open(TEAM);
    if (first !== undefined) await stored.put({ ...first, zone: 'Mars/Olympus' });
    const said = await ask(world, '/deckhand digest list', 'admin');
    expect(said).toContain('1 digest cannot be read');
    expect(said).toContain('Next ');
    expect(bugs(world)).toEqual([]);
  });
});

test('a form, button or shortcut that is not known is not in the log by the word that came', async ({
  world,
}) => {
  const who = { team: { id: TEAM }, user: { id: PEOPLE.admin, team_id: TEAM } };
  const word = 'CanaryWordOfSomebody';
  await forge(world, word, {});
  await sendPayload(world, { type: 'shortcut', ...who, callback_id: word, trigger_id: 'forged-shortcut' });
  const view = { id: 'V1', hash: 'h', type: 'modal', callback_id: word, blocks: [], state: {} };
  await sendPayload(world, { type: 'view_submission', ...who, trigger_id: 'forged-form', view });
  await ask(world, '/deckhand help', 'admin');
  await world.logged('"view":"unknown"');
  expect(world.logs.filter((line) => line.includes(word))).toEqual([]);
});
