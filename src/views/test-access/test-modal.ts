import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { ProjectRef } from '../../core/project-ref.ts';
import { type Choice, conversationInput, searchInput, selectInput } from '../blocks/inputs.ts';
import { button, buttons, context, say } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';

export const TEST = 'test';
export const TEST_TITLE = 'Test access';

/** Data that the form keeps while it is drawn again. */
export const TestOrigin = z.object({
  account: z.string(),
  /** The project whose servers the menu lists. */
  project: ProjectRef.optional(),
  channel: z.string().optional(),
});
export interface TestOrigin extends z.infer<typeof TestOrigin> {}

/** Asks what to test, and in which channel to show it. `accounts`: all connected ones. */
export function testModal(origin: TestOrigin, accounts: readonly string[]): ModalView {
  const { project } = origin;
  return modal(TEST, TEST_TITLE, { submit: 'Test', metadata: origin }, [
    accountBlock(origin, accounts),
    searchInput('project', 'Project', {
      placeholder: 'Search the projects',
      dispatch: true,
      initial: project && { value: project.permalink, text: project.name },
    }),
    searchInput('server', 'Server', {
      hint: 'Leave it empty to test the repository and all servers.',
      placeholder: 'All servers',
      optional: true,
    }),
    conversationInput('channel', 'Channel', {
      hint: 'Where the run is shown. Deckhand must be in it.',
      initial: origin.channel,
    }),
  ]);
}

/** Used if Slack allows no form without a click. */
export function openTestMessage(): Message {
  return say(
    'Which project do you want to test?',
    ...buttons(button('Choose a project', 'test:open', { style: 'primary' })),
  );
}

function accountBlock({ account }: TestOrigin, accounts: readonly string[]): KnownBlock {
  if (accounts.length < 2) return context(`Account ${code(account)}`);
  const choices = accounts.map((name): Choice => ({ value: name, text: name }));
  return selectInput('account', 'Account', { choices, initial: account, dispatch: true });
}
