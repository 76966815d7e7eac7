import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Change, Message, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import { followSync } from '../../scheduler/servers/provisioning.ts';
import type { SkippedRows } from '../../service/call.ts';
import type { AccountClient } from '../../service/client.ts';
import { listHostedResources, listRegions, listSizes, syncHostedResource } from '../../service/servers.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import {
  chooseResourceMessage,
  hostingMessage,
  regionsMessage,
  resourceMessage,
  sizesMessage,
} from '../../views/servers/hosting-messages.ts';
import { findResource, readCurrency } from '../../workspace/hosting-catalog.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { unknownSubWord } from '../command-router.ts';
import type { CommandContext } from '../context.ts';
import { replyPrivately } from '../replies.ts';

const Listed = z.enum(['list', 'regions', 'sizes']);

export const hosting = defineCommand({
  name: 'hosting',
  phrase: 'shows managed servers, enrols for them',
  synonyms: ['resources', 'managed servers', 'droplets', 'instances', 'vps'],
  shorthands: { regions: 'regions', sizes: 'sizes', plans: 'sizes', prices: 'sizes', pricing: 'sizes' },
  phrases: {
    'what|how much? is|does|do|are? a|the|one? managed? server|servers|hosting|vps cost|costs? *': 'sizes',
    'server|servers|hosting cost|costs|spending': 'list',
    'sync|resync|synchronise|synchronize server|servers|hosting *': '',
    'which|what|where regions|region|locations|datacenters *': 'regions',
    'which|what|server sizes|plans|prices|price *': 'sizes',
    'what are|is the|your? sizes|plans|prices|pricing *': 'sizes',
    'how big|large|fast is|are *': 'list',
  },
  summary: 'Lists the managed servers, shows one, or the regions and sizes to choose from',
  usage: '[list|show <id>|sync <id>|regions|sizes]',
  switches: ['key'],
  examples: ['hosting', 'hosting show 1c9e44d0', 'hosting sizes'],
  role: 'member',
  target: 'account',
  rest: true,
  args: z.object({
    what: z.string().toLowerCase().default('list'),
    id: z.string().optional(),
    key: z.literal(true).optional(),
  }),
  async handle({ what, id, key: showsKey }, { invocation, workspace }, { account }) {
    if (what === 'show') {
      if (id === undefined) return askResource(workspace, account, 'hosting show');
      const [resource, currency, maySync] = await Promise.all([
        findResource(workspace, account, id),
        readCurrency(workspace, account),
        workspace.roles.holds(invocation.user, 'operator'),
      ]);
      return replyPrivately(
        resourceMessage({ account: account.name, resource, currency, maySync, showsKey }),
      );
    }
    const listed = Listed.safeParse(what);
    if (!listed.success) throw unknownSubWord('hosting', what, ['list', 'show', 'sync', 'regions', 'sizes']);
    if (id !== undefined)
      throw new UserError(
        `${code(`hosting ${what}`)} takes no other words, so ${code(id, 40)} is not clear.`,
        `hosting ${what}`,
      );
    return replyPrivately(await listResources(workspace, account, listed.data));
  },
});

/** Asks for a managed server. @param command what the choice completes */
async function askResource(workspace: Workspace, account: Account, command: string): Promise<Reply> {
  const resources = await workspace.accounts.use(account, (client) => listHostedResources(client));
  return replyPrivately(chooseResourceMessage(account.name, resources, command));
}

async function listResources(
  workspace: Workspace,
  account: Account,
  what: z.infer<typeof Listed>,
): Promise<Message> {
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
    readCurrency(workspace, account),
  ]);
  return withSkipped(hostingMessage(name, resources, currency, workspace.word), skipped, resources);
}

/** A command of its own, because it needs another role than the list does. */
export const hostingSync = defineCommand({
  name: 'hosting sync',
  phrase: 'shows managed servers, enrols for them',
  shownAs: 'hosting',
  summary: 'Asks the hosting provider for the state of a managed server, and shows it',
  usage: '[id]',
  examples: ['hosting sync 1c9e44d0'],
  role: 'operator',
  target: 'account',
  durable: true,
  rest: true,
  args: z.object({ id: z.string().optional() }),
  async handle({ id }, context, { account }) {
    if (id === undefined) return askResource(context.workspace, account, 'hosting sync');
    return { kind: 'private', ...(await sync(context, account, id)) };
  },
  actions: [
    defineButton(z.object({ account: z.string(), id: z.string() }), {
      actionId: 'hosting:sync',
      once: true,
      durable: true,
      async handle({ account: name, id }, context) {
        const account = await context.workspace.accounts.resolve(context.invocation, name);
        return { kind: 'replace', ...(await sync(context, account, id)) };
      },
    }),
  ],
});

/** Requests a sync. A repeat changes nothing more, so a request may run again after a kill. */
async function sync(
  { invocation, workspace }: CommandContext,
  account: Account,
  nameOrId: string,
): Promise<{ message: Message; audit: Change }> {
  const resource = await findResource(workspace, account, nameOrId);
  const { status } = await workspace.accounts.use(
    account,
    (client) => syncHostedResource(client, resource.identifier),
    { what: `managed server ${code(nameOrId)}`, list: 'hosting list' },
  );
  await followSync(workspace, invocation, account.name, resource);
  const currency = await readCurrency(workspace, account);
  const isUsual = status === null || status === 'sync_requested';
  const answer = isUsual ? 'The sync is requested' : `The service says ${code(status)}`;
  const news = `:arrows_counterclockwise: ${answer}. The server is shown again once it has changed.`;
  return {
    message: resourceMessage({ account: account.name, resource, currency, maySync: false, news }),
    audit: { what: 'hosting sync', target: `${account.name}/${resource.identifier}` },
  };
}
