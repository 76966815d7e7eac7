import { spellName, unwrapSlackText } from '../../core/names.ts';
import type { Requester } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import { parseAccountName } from '../../service/addresses.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../command.ts';

/**
 * The account that the person named, else the channel's, else the workspace's default.
 * @param requester decides whose key acts; the person if left out
 * @throws UserError if no such account is connected
 */
export async function accountOf(
  context: CommandContext,
  requester: Requester = context.caller,
): Promise<Account> {
  const { caller, workspace } = context;
  const channel = await workspace.channels.get(caller.channel);
  return workspace.accounts.resolve(requester, context.account, channel.account);
}

/** The name of an account that was typed as a name or as an address. */
export function readAccountName({ config }: Pick<Workspace, 'config'>, typed: string): string {
  const name = spellName(unwrapSlackText(typed));
  return parseAccountName(name, config.SERVICE_BASE_URL) ?? name;
}
