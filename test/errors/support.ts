import { expect, onTestFinished } from 'vitest';
import { ask } from '../support/asking.ts';
import { BRISK, hold } from '../support/faults.ts';
import {
  API_KEY,
  CHANNEL,
  openTestWorld,
  TEAM,
  type TestWorld,
  type TestWorldOptions,
} from '../support/test-world.ts';

/** What happened; what the person does, resolving with all they read; the sentence; the next step; a reference? */
export type Row = [
  what: string,
  given: (world: TestWorld) => unknown,
  when: (world: TestWorld) => Promise<string>,
  says: string,
  next: string,
  more?: 'with a reference',
];

export const nothing = (): void => undefined;
export const typing = (line: string) => (world: TestWorld) => ask(world, `/deckhand ${line}`, 'admin');
export const whoami = typing('whoami');

/** The root message of a test, once it has stopped. */
export async function testing({ as, slack }: TestWorld): Promise<string> {
  const roots = () => slack.messages(TEAM, CHANNEL);
  const { length } = roots();
  await as('member').command(CHANNEL, '/deckhand test storefront');
  await slack.until(() => roots()[length]?.text.includes('stopped'));
  return JSON.stringify(roots()[length]);
}

/** What stands in the form, or under its fields, after it was sent. */
export async function sending(world: TestWorld, line: string, form: string, values: object): Promise<string> {
  const ann = world.as('admin');
  await ann.command(CHANNEL, `/deckhand ${line}`);
  await world.slack.until(() => ann.openView()?.content.callback_id === form);
  const answer = await ann.submit(form, { ...values });
  return JSON.stringify(answer.errors ?? ann.openView()?.content.blocks);
}

export function expectAnswer(
  world: TestWorld,
  said: string,
  [says, next, more]: readonly [says: string, next: string, more?: 'with a reference'],
): void {
  // A headline has it as a clause.
  expect(said.toLowerCase()).toContain(says.toLowerCase().replace(/\.$/, ''));
  expect(said).toContain(next);
  expect(said, 'no stack trace').not.toMatch(/\.ts:\d|\bat \w+ \(|node_modules|Error:/);
  expect(said, 'no secret').not.toContain(API_KEY);
  const reference = /Reference `([0-9a-f]{8})`/.exec(said)?.[1];
  expect(reference !== undefined, 'a reference').toBe(more === 'with a reference');
  const logged = world.logs.filter((line) => line.includes(`"reference":"${reference}"`));
  expect(logged).toHaveLength(reference === undefined ? 0 : 1);
}

/** A world of one test, with an account in it. */
export async function worldOfItsOwn(options: TestWorldOptions): Promise<TestWorld> {
  const world = await openTestWorld({ ...BRISK, ...options });
  onTestFinished(() => world.stop());
  await hold(world.app, 'ok');
  return world;
}

export const editing = (world: TestWorld) =>
  sending(world, 'integration edit none-such storefront', 'integration.edit', {
    hook_type: 'http_req',
    name: 'Other',
  });
