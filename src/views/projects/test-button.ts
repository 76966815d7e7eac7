import type { Target } from '../../records/test-runs.ts';
import type { ButtonSpec } from '../blocks/message.ts';

/** Starts a test of the project or server. @param at tells the buttons of one message apart */
export function testButton(target: Target, at?: number): ButtonSpec {
  const actionId = at === undefined ? 'test:project' : `test:project#${at}`;
  return { label: 'Test access', actionId, value: { target } };
}
