import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { getProfile } from '../../service/profile.ts';
import { say } from '../../views/blocks/message.ts';
import { askedToEnrollMessage, betaMessage, handOverOf } from '../../views/servers/beta.ts';
import { type ActionContext, defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

export const beta = defineCommand({
  name: 'beta',
  summary: 'Shows whether the account is in the managed-resources beta',
  usage: '[enroll [protocol]]',
  examples: ['beta', 'beta enroll'],
  role: 'member',
  needsAccount: true,
  positionals: [],
  args: z.object({}),
  async run(_, context) {
    const { caller, workspace } = context;
    const account = await accountOf(context);
    const [profile, mayEnroll] = await Promise.all([
      workspace.accounts.use(account, (client) => getProfile(client)),
      workspace.roles.holds(caller.user, 'admin'),
    ]);
    const word = workspace.config.SLACK_COMMAND;
    return { kind: 'private', message: betaMessage({ account: account.name, profile, mayEnroll, word }) };
  },
  actions: [{ actionId: 'beta:tell', role: 'member', durable: true, run: tellAdmin }],
});

/** Sends the picked person a direct message. */
async function tellAdmin(
  picked: string | undefined,
  { caller, workspace, blockId }: ActionContext,
): Promise<Reply> {
  const about = handOverOf(blockId);
  if (about === undefined || picked === undefined)
    throw new UserError('This menu is from an older version of Deckhand.', 'beta');
  const { account, betaUrl } = about;
  const message = askedToEnrollMessage(account, betaUrl, caller.user, workspace.config.SLACK_COMMAND);
  await workspace.slack.sendDirectMessage(picked, message);
  return {
    kind: 'private',
    message: say(`:incoming_envelope: <@${picked}> was asked in a direct message.`),
    audit: { target: account },
  };
}
