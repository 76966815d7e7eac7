import { z } from 'zod';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { buttons, say } from '../../views/blocks/message.ts';
import { accountsChanged } from '../../workspace/schedules.ts';
import type { ActionContext } from '../command.ts';
import { defineCommand } from '../command.ts';

const ButtonValue = z.object({ account: z.string() });

export const disconnect = defineCommand({
  name: 'disconnect',
  summary: 'Disconnects an account and deletes its sealed key',
  usage: '<account>',
  role: 'admin',
  needsAccount: true,
  positionals: ['account'],
  args: z.object({ account: z.string() }),
  async run({ account: named }, { workspace }) {
    const account = await workspace.accounts.resolve(named, undefined);
    const said = `Disconnect ${bold(account.name)}? Its sealed key is deleted, and its schedules stop.`;
    const confirm = buttons({
      label: 'Disconnect',
      actionId: 'disconnect:confirm',
      style: 'danger',
      value: { account: account.name },
    });
    return { kind: 'private', message: say(said, ...confirm) };
  },
  actions: [{ actionId: 'disconnect:confirm', role: 'admin', durable: true, run: confirmDisconnect }],
});

async function confirmDisconnect(value: string | undefined, { workspace }: ActionContext): Promise<Reply> {
  const { account } = ButtonValue.parse(JSON.parse(value ?? '{}'));
  const wasThere = await workspace.accounts.disconnect(account);
  // In any case, because the process may have been killed between the two.
  await accountsChanged(workspace);
  if (!wasThere) return { kind: 'replace', message: say(`${code(account)} is no longer connected.`) };
  return {
    kind: 'replace',
    message: say(`:wastebasket: ${bold(account)} is disconnected and its key deleted.`),
    audit: { what: 'disconnect', target: account },
  };
}
