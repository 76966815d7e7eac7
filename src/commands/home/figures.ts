import type { Deckhand } from '../../deckhand.ts';
import { explain } from '../../scheduler/explain.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { type AccountFigures, MOST_FIGURES } from '../../views/home/home.ts';
import { AccountFailure } from '../../workspace/accounts.ts';

/** This week's figures of the first accounts; what fails is told in their place. */
export async function figuresOf(
  deckhand: Deckhand,
  workspace: string,
): Promise<Record<string, AccountFigures>> {
  const accounts = (await deckhand.accounts.list(workspace)).slice(0, MOST_FIGURES);
  const each = accounts.map(async (account): Promise<[string, AccountFigures]> => {
    try {
      return [account.name, { stats: await deckhand.listings.thisWeek(workspace, account) }];
    } catch (error) {
      if (!(error instanceof AccountFailure)) throw error;
      const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
      return [account.name, { failed: failureWords(explain(error, at)) }];
    }
  });
  return Object.fromEntries(await Promise.all(each));
}
