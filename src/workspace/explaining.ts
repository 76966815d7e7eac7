import { logFailure } from '../observability/failures.ts';
import { type Explained, explain } from '../views/blocks/failures.ts';
import type { Workspace } from './workspace.ts';

/** How the workspace's failures are told to people. */
export function explaining({
  config,
  clock,
  log,
}: Pick<Workspace, 'config' | 'clock' | 'log'>): Pick<Workspace, 'explain' | 'report'> {
  const { SLACK_COMMAND: word, SUPPORT_URL: supportUrl } = config;
  const explainHere = (error: unknown, newAccount?: string): Explained =>
    explain(error, { word, supportUrl, now: clock.now(), newAccount });
  return {
    explain: explainHere,
    report: (error, fields, newAccount) => ({
      ...explainHere(error, newAccount),
      reference: logFailure(log, error, fields),
    }),
  };
}
