import { z } from 'zod';
import { UserError } from '../errors.ts';
import { resumeTest } from '../follow/resume-test.ts';
import { startTest } from '../follow/start-test.ts';
import { Target } from '../runs.ts';
import { listServers } from '../service/servers.ts';
import { code } from '../views/text.ts';
import type { ActionContext, CommandContext, Reply } from './command.ts';
import { defineCommand } from './command.ts';
import { projectOf } from './target.ts';

const ButtonValue = z.object({ target: Target });
const CheckValue = ButtonValue.extend({ run: z.string() });

export const test = defineCommand({
  name: 'test',
  summary: 'Tests that a project’s repository and servers can be reached, live in a thread',
  usage: '[project] [server]',
  examples: ['test', 'test storefront', 'test storefront web-1'],
  role: 'member',
  needsAccount: true,
  durable: true,
  positionals: ['project', 'server'],
  args: z.object({ project: z.string().optional(), server: z.string().optional() }),
  async run({ project: named, server }, context) {
    const { account, project } = await projectOf(context, named);
    const target: Target = {
      account: account.name,
      project: { permalink: project.permalink, name: project.name },
      ...(server === undefined
        ? {}
        : { server: await serverOf(context, account, project.permalink, server) }),
    };
    return startTest(context.deckhand, context.caller, channelOf(context), target);
  },
  actions: [
    {
      actionId: 'test:again',
      role: 'member',
      once: true,
      durable: true,
      run: (value, context) => again(value, context),
    },
    {
      actionId: 'test:server',
      role: 'member',
      once: true,
      durable: true,
      run: (value, context) => again(value, context),
    },
    {
      actionId: 'test:check',
      role: 'member',
      once: true,
      durable: true,
      run: (value, context) => checkAgain(value, context),
    },
  ],
});

async function again(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { target } = ButtonValue.parse(JSON.parse(value ?? '{}'));
  return startTest(context.deckhand, context.caller, channelOf(context), target);
}

async function checkAgain(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { target, run } = CheckValue.parse(JSON.parse(value ?? '{}'));
  return resumeTest(context.deckhand, context.caller, channelOf(context), target, run);
}

function channelOf(context: CommandContext): string {
  const { channel } = context.caller;
  if (channel === undefined) throw new UserError('Run this in a channel, so that its thread has a place.');
  return channel;
}

/** By identifier or name where the service lists servers; otherwise what was typed is taken for the identifier. */
async function serverOf(
  { caller, deckhand }: CommandContext,
  account: Parameters<typeof deckhand.accounts.use>[1],
  project: string,
  typed: string,
): Promise<{ identifier: string; name: string }> {
  const servers = await deckhand.accounts.use(caller.workspace, account, (client) =>
    listServers(client, project),
  );
  if (servers === undefined) return { identifier: typed, name: typed };
  const wanted = typed.toLowerCase();
  const exact = servers.find((server) => server.identifier.toLowerCase() === wanted);
  const named = servers.filter((server) => server.name.toLowerCase() === wanted);
  const found = exact ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return { identifier: found.identifier, name: found.name };
  if (named.length > 1) throw new UserError(`Several servers are named ${code(typed)}. Use an identifier.`);
  const known = servers.slice(0, 10).map((server) => code(server.name, 40));
  throw new UserError(
    `There is no server ${code(typed)} in this project. It has ${known.join(', ') || 'none'}.`,
  );
}
