import { z } from 'zod';
import type { Account } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

/** What a workflow gives to a step; whoever builds one may leave a field empty. */
export const Text = z
  .string()
  .nullish()
  .transform((text) => text?.trim() || undefined);

/** One execution of a step. */
export interface Step {
  workspace: Workspace;
  execution: string;
  inputs: unknown;
}

/** A step has no person and no channel: the workspace's account counts, unless one is named. */
export function contextOf(step: Step, account: string | undefined): CommandContext {
  const { workspace, execution } = step;
  return {
    caller: { user: '', channel: undefined, requestId: execution },
    account,
    text: '',
    workspace,
  };
}

export function accountFor(step: Step, account: string | undefined): Promise<Account> {
  return accountOf(contextOf(step, account));
}
