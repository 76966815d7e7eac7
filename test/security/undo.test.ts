import { describe, expect } from 'vitest';
import { answerTo } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { sendClick } from '../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const bugs = ({ logs }: TestWorld) => logs.filter((line) => line.includes('"event":"bug"'));
const digests = (world: TestWorld) => world.app.workspaces.open(TEAM).schedules.list('digest');
describe('an "Undo"', () => {
  test.override({ connected: true });

  /** Values of the buttons "Undo" of all messages. */
  function undos({ slack }: TestWorld): string[] {
    const shown = [...slack.messages(TEAM, CHANNEL), ...slack.ephemerals(TEAM, PEOPLE.admin)];
    const blocks = shown.flatMap((message) => (message.blocks ?? []) as { elements?: object[] }[]);
    const buttons = blocks.flatMap(({ elements }) => (elements ?? []) as Record<string, unknown>[]);
    return buttons.filter(({ action_id }) => action_id === 'digest:undo').map(({ value }) => String(value));
  }

  /** Removes the one digest, and reads the value of its "Undo". */
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

    expect(await answerTo(world, 'admin', () => sendClick(world, 'watch:undo', first))).toContain(
      'undone once',
    );
    expect(bugs(world)).toEqual([]);
    expect(await digests(world)).toEqual([]);

    await sendClick(world, 'digest:undo', first);
    await world.slack.until(async () => (await digests(world)).length === 1);
    const second = await remove(world, digest?.id ?? '');
    expect(second).not.toEqual(first);
    expect(await answerTo(world, 'admin', () => sendClick(world, 'digest:undo', first))).toContain(
      'undone once',
    );
    expect(await digests(world)).toEqual([]);
    await sendClick(world, 'digest:undo', second);
    await world.slack.until(async () => (await digests(world)).length === 1);
  });
});
