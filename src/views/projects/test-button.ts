import type { ButtonSpec } from '../blocks/message.ts';

/** What a button tests. */
interface Tested {
  account: string;
  project: { permalink: string; name: string };
  server?: { identifier: string; name: string };
}

/** Starts a test of the project or server. @param at tells the buttons of one message apart */
export function testButton(target: Tested, at?: number): ButtonSpec {
  const actionId = at === undefined ? 'test:project' : `test:project#${at}`;
  return { label: 'Test access', actionId, value: { target } };
}
