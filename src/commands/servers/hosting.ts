import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { listHostedResources, listRegions, listSizes } from '../../service/hosted-resources.ts';
import {
  hostingMessage,
  regionsMessage,
  resourceMessage,
  sizesMessage,
} from '../../views/servers/hosting.ts';
import type { Account } from '../../workspace/accounts.ts';
import { currencyOf, findResource } from '../../workspace/managed-hosting.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

const Args = z
  .object({ what: z.string().toLowerCase().default('list'), id: z.string().optional() })
  .refine(({ what, id }) => ['list', 'regions', 'sizes'].includes(what) === (id === undefined), {
    error: 'Say what to show.',
  })
  .refine(({ what }) => ['list', 'show', 'regions', 'sizes'].includes(what), { error: 'Say what to show.' });

export const hosting = defineCommand({
  name: 'hosting',
  summary: 'Lists the managed resources, shows one, or the regions and sizes to choose from',
  usage: '[list|show <id>|sync <id>|regions|sizes]',
  examples: ['hosting', 'hosting show 1c9e44d0', 'hosting sizes'],
  role: 'member',
  needsAccount: true,
  positionals: ['what', 'id'],
  rest: true,
  args: Args,
  async run({ what, id }, context) {
    const account = await accountOf(context);
    return { kind: 'private', message: await answer(context, account, what, id) };
  },
});

async function answer(
  context: CommandContext,
  account: Account,
  what: string,
  id: string | undefined,
): Promise<Message> {
  const { accounts, config } = context.workspace;
  if (id !== undefined) return showOne(context, account, id);
  if (what === 'regions')
    return regionsMessage(account.name, await accounts.use(account, (client) => listRegions(client)));
  if (what === 'sizes')
    return sizesMessage(account.name, await accounts.use(account, (client) => listSizes(client)));
  const [resources, currency] = await Promise.all([
    accounts.use(account, (client) => listHostedResources(client)),
    currencyOf(context.workspace, account),
  ]);
  return hostingMessage(account.name, resources, currency, config.SLACK_COMMAND);
}

async function showOne(
  { caller, workspace }: CommandContext,
  account: Account,
  named: string,
): Promise<Message> {
  const { user } = caller;
  const [resource, currency, maySync] = await Promise.all([
    findResource(workspace, account, named),
    currencyOf(workspace, account),
    workspace.roles.holds(user, 'operator'),
  ]);
  return resourceMessage({ account: account.name, resource, currency, maySync });
}
