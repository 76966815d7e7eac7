import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Change, Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import { followSync } from '../../scheduler/servers/provisioning.ts';
import type { SkippedRows } from '../../service/call.ts';
import type { AccountClient } from '../../service/client.ts';
import {
  listHostedResources,
  listRegions,
  listSizes,
  syncHostedResource,
} from '../../service/hosted-resources.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import {
  chooseResourceMessage,
  hostingMessage,
  regionsMessage,
  resourceMessage,
  sizesMessage,
} from '../../views/servers/hosting.ts';
import { currencyOf, findResource } from '../../workspace/hosting-catalog.ts';
import { type CommandContext, defineCommand, fromButton } from '../command.ts';
import { unknownSubWord } from '../command-router.ts';
import { accountOf } from '../targets/project.ts';

const Args = z.object({ what: z.string().toLowerCase().default('list'), id: z.string().optional() });

const Listed = z.enum(['list', 'regions', 'sizes']);

export const hosting = defineCommand({
  name: 'hosting',
  summary: 'Lists the managed resources, shows one, or the regions and sizes to choose from',
  usage: '[list|show <id>|sync <id>|regions|sizes]',
  examples: ['hosting', 'hosting show 1c9e44d0', 'hosting sizes'],
  role: 'member',
  needsAccount: true,
  rest: true,
  args: Args,
  async run({ what, id }, context) {
    if (what === 'show') return { kind: 'private', message: await showOne(context, id) };
    const listed = Listed.safeParse(what);
    if (!listed.success) throw unknownSubWord('hosting', what, ['list', 'show', 'sync', 'regions', 'sizes']);
    if (id !== undefined) throw new UserError(`${code(id, 40)} is one word too many.`, `hosting ${what}`);
    return { kind: 'private', message: await list(context, listed.data) };
  },
});

/** Asks which managed resource is meant. @param text what the choice completes */
async function chooseOne({ workspace }: CommandContext, account: Account, text: string): Promise<Message> {
  const resources = await workspace.accounts.use(account, (client) => listHostedResources(client));
  return chooseResourceMessage(account.name, resources, `${text} --account ${account.name}`);
}

async function list(context: CommandContext, what: z.infer<typeof Listed>): Promise<Message> {
  const { workspace } = context;
  const account = await accountOf(context);
  const { name } = account;
  const skipped: SkippedRows[] = [];
  const read = <T>(listAll: (client: AccountClient, options: { skipped: SkippedRows[] }) => Promise<T>) =>
    workspace.accounts.use(account, (client) => listAll(client, { skipped }));
  if (what === 'regions') {
    const regions = await read(listRegions);
    return withSkipped(regionsMessage(name, regions), skipped, regions);
  }
  if (what === 'sizes') {
    const sizes = await read(listSizes);
    return withSkipped(sizesMessage(name, sizes), skipped, sizes);
  }
  const [resources, currency] = await Promise.all([
    read(listHostedResources),
    currencyOf(workspace, account),
  ]);
  return withSkipped(hostingMessage(name, resources, currency, workspace.word), skipped, resources);
}

async function showOne(context: CommandContext, named: string | undefined): Promise<Message> {
  const { caller, workspace } = context;
  const account = await accountOf(context);
  if (named === undefined) return chooseOne(context, account, 'hosting show');
  const [resource, currency, maySync] = await Promise.all([
    findResource(workspace, account, named),
    currencyOf(workspace, account),
    workspace.roles.holds(caller.user, 'operator'),
  ]);
  return resourceMessage({ account: account.name, resource, currency, maySync });
}

const ButtonValue = z.object({ account: z.string(), id: z.string() });

/** A command of its own, because it needs another role than the list does. */
export const hostingSync = defineCommand({
  name: 'hosting sync',
  summary: 'Asks the hosting provider how a managed resource is, and shows what comes of it',
  usage: '[id]',
  examples: ['hosting sync 1c9e44d0'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  rest: true,
  args: z.object({ id: z.string().optional() }),
  async run({ id }, context) {
    const account = await accountOf(context);
    if (id !== undefined) return { kind: 'private', ...(await sync(context, account, id)) };
    return { kind: 'private', message: await chooseOne(context, account, 'hosting sync') };
  },
  actions: [
    {
      actionId: 'hosting:sync',
      once: true,
      durable: true,
      async run(value, context) {
        const { account: name, id } = fromButton(ButtonValue, value);
        const account = await context.workspace.accounts.resolve(context.caller, name);
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
  const ask = (client: AccountClient) => syncHostedResource(client, before.identifier);
  const { status } = await workspace.accounts.use(account, ask, sought);
  await followSync(workspace, caller, account.name, before);
  const currency = await currencyOf(workspace, account);
  const isUsual = status === null || status === 'sync_requested';
  const answered = isUsual ? 'The sync is requested' : `The service says ${code(status)}`;
  const news = `:arrows_counterclockwise: ${answered}. The card is posted again once it has changed.`;
  return {
    message: resourceMessage({ account: account.name, resource: before, currency, maySync: false, news }),
    audit: { what: 'hosting sync', target: `${account.name}/${before.identifier}` },
  };
}
