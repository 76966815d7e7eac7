import { z } from 'zod';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { claimsMessage } from '../../views/accounts/claims.ts';
import { say } from '../../views/blocks/message.ts';
import { fromButton } from '../carried.ts';
import type { ActionContext, CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

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
        : `You have claimed no name at ${code(account)}.`;
      return { kind: 'private', message: say(text), ...(wasThere ? { audit: { target: account } } : {}) };
    }
    await workspace.names.claim(account, caller.user, name);
    const text = `:label: You are ${bold(name, 100)} at ${code(account)}: watches mention you where their events name you.`;
    return { kind: 'private', message: say(text), audit: { target: account } };
  },
  actions: [{ actionId: 'me:release', role: 'admin', durable: true, run: release }],
});

/** A person's own name; an admin's answer has everybody's. */
async function showClaims({ caller, workspace }: CommandContext, account: string): Promise<Reply> {
  const claims = await workspace.names.list(account);
  const isAdmin = await workspace.roles.holds(caller.user, 'admin');
  const shown = { account, user: caller.user, word: workspace.word };
  return { kind: 'private', message: claimsMessage(claims, shown, isAdmin) };
}

const ReleaseButton = z.object({ account: z.string(), user: z.string(), at: z.number() });

async function release(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { account, user, at } = fromButton(ReleaseButton, value);
  const wasThere = await context.workspace.names.release(account, user, at);
  const text = wasThere
    ? `The name of <@${user}> at ${code(account)} is free again, and watches do not mention them any more.`
    : 'This name was released or changed already.';
  return {
    kind: 'replace',
    message: say(text),
    ...(wasThere ? { audit: { what: 'me release', target: `${account}/${user}` } } : {}),
  };
}
