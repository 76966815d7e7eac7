import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code, mrkdwn } from '../../core/mrkdwn.ts';
import type { ServiceError } from '../../service/errors.ts';
import { enrollInBeta, getProfile } from '../../service/profile.ts';
import { enrolledMessage, handOverMessage } from '../../views/servers/beta.ts';
import { type Account, AccountFailure } from '../../workspace/accounts.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

const ButtonValue = z.object({ account: z.string() });

/** A command of its own, because it asks for another role than looking does. */
export const betaEnroll = defineCommand({
  name: 'beta enroll',
  summary: 'Enrols the account in the managed-resources beta',
  usage: '[protocol]',
  examples: ['beta enroll', 'beta enroll static_hosting'],
  role: 'admin',
  needsAccount: true,
  durable: true,
  positionals: ['protocol'],
  args: z.object({ protocol: z.string().optional() }),
  async run({ protocol }, context) {
    return { kind: 'private', message: await enroll(context, await accountOf(context), protocol) };
  },
  actions: [
    {
      actionId: 'beta:enroll',
      role: 'admin',
      once: true,
      durable: true,
      async run(value, context) {
        const { account: name } = ButtonValue.parse(JSON.parse(value ?? '{}'));
        const account = await context.workspace.accounts.resolve(name, undefined);
        return { kind: 'replace', message: await enroll(context, account, undefined) };
      },
    },
  ],
});

/**
 * Enrols and says what came of it. An enrolled account stays as it is, so doing this again after a kill does no harm.
 * @throws AccountFailure, UserError
 */
async function enroll(
  { caller, workspace }: CommandContext,
  account: Account,
  protocol: string | undefined,
): Promise<Message> {
  const { user, channel } = caller;
  const word = workspace.config.SLACK_COMMAND;
  try {
    const outcome = await workspace.accounts.use(account, async (client) => {
      const before = await getProfile(client);
      const after = await enrollInBeta(client, protocol?.toLowerCase().replaceAll('-', '_'));
      if (!after.beta_features) return 'off';
      return before.account.beta_features ? 'already' : 'new';
    });
    await workspace.audit.record({
      who: user,
      what: 'beta enroll',
      target: account.name,
      result: 'done',
      ...(channel === undefined ? {} : { where: channel }),
    });
    return enrolledMessage(account.name, outcome, word);
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    const { cause } = error;
    if (cause.kind === 'admin_required') return handOverMessage(account.name, cause.betaUrl);
    if (cause.errorCode === 'unsupported_protocol') throw unsupported(protocol, cause);
    throw error;
  }
}

function unsupported(protocol: string | undefined, cause: ServiceError): UserError {
  const said = mrkdwn(cause.messages?.join('; ') ?? 'It names no others.', 400);
  return new UserError(
    `The service has no beta for ${code(protocol)}: ${said}`,
    'beta enroll static_hosting',
    { cause },
  );
}
