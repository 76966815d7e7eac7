import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Change } from '../../core/reply.ts';
import { followSync } from '../../scheduler/servers/sync.ts';
import { syncHostedResource } from '../../service/hosted-resources.ts';
import { resourceMessage } from '../../views/servers/hosting.ts';
import type { Account } from '../../workspace/accounts.ts';
import { currencyOf, findResource } from '../../workspace/managed-hosting.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

const ButtonValue = z.object({ account: z.string(), id: z.string() });

/** A command of its own, because it asks for another role than looking does. */
export const hostingSync = defineCommand({
  name: 'hosting sync',
  summary: 'Asks the hosting provider how a managed resource is, and shows what comes of it',
  usage: '<id>',
  examples: ['hosting sync 1c9e44d0'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  positionals: ['id'],
  rest: true,
  args: z.object({ id: z.string() }),
  async run({ id }, context) {
    return { kind: 'private', ...(await sync(context, await accountOf(context), id)) };
  },
  actions: [
    {
      actionId: 'hosting:sync',
      role: 'operator',
      once: true,
      durable: true,
      async run(value, context) {
        const { account: name, id } = ButtonValue.parse(JSON.parse(value ?? '{}'));
        const account = await context.workspace.accounts.resolve(name, undefined);
        return { kind: 'replace', ...(await sync(context, account, id)) };
      },
    },
  ],
});

/** Asking twice changes no more than asking once, so a request that is carried out again after a kill does no harm. */
async function sync(
  { caller, workspace }: CommandContext,
  account: Account,
  named: string,
): Promise<{ message: Message; audit: Change }> {
  const before = await findResource(workspace, account, named);
  const sought = { what: `managed resource ${code(named)}`, list: 'hosting list' };
  const { status } = await workspace.accounts.use(
    account,
    (client) => syncHostedResource(client, before.identifier),
    sought,
  );
  await followSync(workspace, caller, account.name, before);
  const currency = await currencyOf(workspace, account);
  const answered = status === 'sync_requested' ? 'The sync is requested' : `The service says ${code(status)}`;
  const news = `:arrows_counterclockwise: ${answered}; I show the card again once it has changed.`;
  return {
    message: resourceMessage({ account: account.name, resource: before, currency, maySync: false, news }),
    audit: { what: 'hosting sync', target: `${account.name}/${before.identifier}` },
  };
}
