import type { Button } from '@slack/types';
import type { Target } from '../../records/test-runs.ts';
import { button } from '../blocks/message.ts';

/** Starts a test of the project or server. @param at tells the buttons of one message apart */
export function testButton(target: Target, at?: number): Button {
  const actionId = at === undefined ? 'test:project' : `test:project#${at}`;
  return button('Test access', actionId, { value: { target } });
}
