import type { Caller } from '../core/reply.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { CommandContext } from './command.ts';

type Said = Pick<CommandContext, 'account' | 'text' | 'project' | 'server'>;

/** The context that a handler is given; `said` is what the person typed or chose. */
export function createContext(
  workspace: Workspace,
  caller: Caller,
  said: Partial<Said> = {},
): CommandContext {
  const { user, channel } = caller;
  return {
    workspace,
    caller,
    account: undefined,
    text: '',
    ...said,
    explain(error, { newAccount, ...fields } = {}) {
      return workspace.report(error, { user: user || undefined, channel, ...fields }, newAccount);
    },
  };
}
