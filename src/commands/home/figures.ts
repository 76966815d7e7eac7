import { explain, failureWords } from '../../views/blocks/failures.ts';
import { type AccountFigures, MOST_FIGURES } from '../../views/home/home.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** This week's figures of the first accounts; what fails is told in their place. */
export async function figuresOf(workspace: Workspace): Promise<Record<string, AccountFigures>> {
  const accounts = (await workspace.accounts.list()).slice(0, MOST_FIGURES);
  const each = accounts.map(async (account): Promise<[string, AccountFigures]> => {
    try {
      return [account.name, { stats: await workspace.hosting.thisWeek(account) }];
    } catch (error) {
      if (!(error instanceof AccountFailure)) throw error;
      const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
      return [account.name, { failed: failureWords(explain(error, at)) }];
    }
  });
  return Object.fromEntries(await Promise.all(each));
}
