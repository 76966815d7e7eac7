import type { Caller } from '../core/reply.ts';
import { explain, explainAndLog } from '../scheduler/explain.ts';
import type { Explained } from '../views/blocks/failures.ts';
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
      const at = { ...wordAndTime(workspace), ...(newAccount === undefined ? {} : { newAccount }) };
      return explainAndLog(error, at, workspace.log, { user: user || undefined, channel, ...fields });
    },
  };
}

/** What failed, in words for a person. Logs nothing. */
export function explainIn(workspace: Pick<Workspace, 'config' | 'clock'>, error: unknown): Explained {
  return explain(error, wordAndTime(workspace));
}

function wordAndTime({ config, clock }: Pick<Workspace, 'config' | 'clock'>): { word: string; now: number } {
  return { word: config.SLACK_COMMAND, now: clock.now() };
}
