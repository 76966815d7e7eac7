import { z } from 'zod';
import { AccountFailure, outdated } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { personKey } from '../../records/service-people.ts';
import { getActivity } from '../../service/activity.ts';
import { claimsMessage, mentionWords, unknownNameMessage } from '../../views/accounts/identity.ts';
import { menuTarget } from '../../views/blocks/inputs.ts';
import { say } from '../../views/blocks/message.ts';
import { type CommandContext, defineCommand, fromButton } from '../command.ts';
import { accountOf } from '../targets/project.ts';

export const me = defineCommand({
  name: 'me',
  summary: 'Claims your name at the service, so that watches mention you; alone it shows your name',
  usage: '<name>|none',
  examples: ['me Kim Lee', 'me none'],
  role: 'member',
  needsAccount: true,
  durable: (words) => words.length > 0,
  rest: true,
  args: z.object({ name: z.string().optional() }),
  async run({ name }, context) {
    const { caller, workspace } = context;
    const { name: account } = await accountOf(context);
    if (name === undefined) return showClaims(context, account);
    if (name.toLowerCase() === 'none') {
      const wasThere = await workspace.names.release(account, caller.user);
      const text = wasThere
        ? `Watches of ${code(account)} do not mention you any more.`
        : `You have no name in ${code(account)}.`;
      return { kind: 'private', message: say(text), ...(wasThere && { audit: { target: account } }) };
    }
    const names = await namesInEvents(context, account);
    if (
      names.some((known) => personKey(known) === personKey(name)) ||
      (await isTaken(context, account, name))
    )
      return claim(context, account, name, 'private');
    return { kind: 'private', message: unknownNameMessage(account, name, names) };
  },
  actions: [
    {
      actionId: 'me:name',
      durable: true,
      change: 'me',
      run(name = '', context) {
        const account = menuTarget(context.blockId)?.account;
        if (account === undefined) throw outdated('menu');
        return claim(context, account, name, 'replace');
      },
    },
    {
      actionId: 'me:claim',
      durable: true,
      change: 'me',
      run(value, context) {
        const { account, name } = fromButton(ClaimButton, value);
        return claim(context, account, name, 'replace');
      },
    },
    {
      actionId: 'me:release',
      role: 'admin',
      durable: true,
      async run(value, { workspace }) {
        const { account, user, at } = fromButton(ReleaseButton, value);
        const wasThere = await workspace.names.release(account, user, at);
        const text = wasThere
          ? `The name of <@${user}> at ${code(account)} is free again, and watches do not mention them any more.`
          : 'This name was released or changed already.';
        const audit = { what: 'me release', target: `${account}/${user}` };
        return { kind: 'replace', message: say(text), ...(wasThere && { audit }) };
      },
    },
  ],
});

const ClaimButton = z.object({ account: z.string(), name: z.string() });

/** @throws UserError where another person has the name */
async function claim(
  { caller, workspace }: CommandContext,
  account: string,
  name: string,
  kind: 'private' | 'replace',
): Promise<Reply> {
  await workspace.names.claim(account, caller.user, name);
  const message = say(`:label: ${mentionWords(account, name)}`);
  return { kind, message, audit: { what: 'me', target: account } };
}

/** Another person's name is refused before it is asked about. */
async function isTaken(
  { caller, workspace }: CommandContext,
  account: string,
  name: string,
): Promise<boolean> {
  const claims = await workspace.names.list(account);
  return claims.some((one) => one.user !== caller.user && personKey(one.name) === personKey(name));
}

/** The people that the account's recent events name, in the order of the latest. */
async function namesInEvents({ caller, workspace }: CommandContext, account: string): Promise<string[]> {
  try {
    const key = await workspace.accounts.resolve(caller, account);
    const { events } = await workspace.accounts.use(key, (client) =>
      getActivity(client, { range: 'last_30_days' }),
    );
    return [...new Set(events.map(({ user }) => user ?? '').filter((name) => name !== ''))];
  } catch (error) {
    // A name can be claimed while the service does not answer.
    if (!(error instanceof AccountFailure)) throw error;
    return [];
  }
}

/** A person's own name; an admin's answer has everybody's. */
async function showClaims(context: CommandContext, account: string): Promise<Reply> {
  const { caller, workspace } = context;
  const claims = await workspace.names.list(account);
  const isAdmin = await workspace.roles.holds(caller.user, 'admin');
  const names = await namesInEvents(context, account);
  const about = { account, user: caller.user, word: workspace.word, names };
  return { kind: 'private', message: claimsMessage(claims, about, isAdmin) };
}

const ReleaseButton = z.object({ account: z.string(), user: z.string(), at: z.number() });
