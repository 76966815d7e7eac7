import type { ButtonSpec } from '../blocks/message.ts';

/** What is tested, as a message and its buttons name it. */
export interface TestTarget {
  account: string;
  project: { permalink: string; name: string };
  server?: { identifier: string; name: string } | undefined;
}

/** Starts a test of the project or server. @param at tells the buttons of one message apart */
export function testButton(target: TestTarget, at?: number): ButtonSpec {
  const actionId = at === undefined ? 'test:project' : `test:project#${at}`;
  return { label: 'Test access', actionId, value: { target } };
}
