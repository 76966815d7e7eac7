import { z } from 'zod';
import { AccountFailure, outdated, type ServiceError, UserError } from '../../core/errors.ts';
import type { Change, Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { Account } from '../../records/accounts.ts';
import { enrollInBeta, getProfile } from '../../service/profile.ts';
import { say } from '../../views/blocks/message.ts';
import { listMessages, saidBesides } from '../../views/blocks/service-failures.ts';
import {
  askedToEnrollMessage,
  betaMessage,
  enrolledMessage,
  enrollQuestion,
  handOverMessage,
  handOverOf,
} from '../../views/servers/beta.ts';
import { type CommandContext, defineCommand, fromButton } from '../command.ts';
import { accountOf } from '../targets/project.ts';

export const beta = defineCommand({
  name: 'beta',
  summary: 'Shows whether the account is in the managed-resources beta',
  usage: '[enroll [protocol]]',
  examples: ['beta', 'beta enroll'],
  role: 'member',
  needsAccount: true,
  async run(_, context) {
    const { caller, workspace } = context;
    const account = await accountOf(context);
    const [profile, mayEnroll] = await Promise.all([
      workspace.accounts.use(account, (client) => getProfile(client)),
      workspace.roles.holds(caller.user, 'admin'),
    ]);
    return { kind: 'private', message: betaMessage(account.name, profile, mayEnroll, workspace.word) };
  },
  actions: [
    {
      // Sends the picked person a direct message.
      actionId: 'beta:tell',
      durable: true,
      async run(picked, { caller, workspace, blockId }) {
        const about = handOverOf(blockId);
        if (about === undefined || picked === undefined) throw outdated('menu', 'beta');
        const { account, betaUrl } = about;
        const ask = ['beta', caller.user, picked, account];
        if (!(await workspace.once(ask, DAY_MS, caller.requestId)))
          throw new UserError(`You asked <@${picked}> about this today already.`);
        const asked = askedToEnrollMessage(account, betaUrl, caller.user, workspace.word);
        await workspace.slack.sendDirectMessage(picked, asked);
        const message = say(`:incoming_envelope: <@${picked}> was asked in a direct message.`);
        return { kind: 'private', message, audit: { target: account } };
      },
    },
  ],
});

const ButtonValue = z.object({ account: z.string(), protocol: z.string().optional() });

/** A command of its own, because it needs another role than `beta` does. */
export const betaEnroll = defineCommand({
  name: 'beta enroll',
  summary: 'Enrols the account in the managed-resources beta, after a question',
  usage: '[protocol]',
  examples: ['beta enroll', 'beta enroll static_hosting'],
  role: 'admin',
  needsAccount: true,
  args: z.object({ protocol: z.string().optional() }),
  async run({ protocol }, context) {
    const { workspace } = context;
    const account = await accountOf(context);
    const { account: profile } = await workspace.accounts.use(account, (client) => getProfile(client));
    const message = profile.beta_features
      ? enrolledMessage(account.name, 'already', workspace.word)
      : enrollQuestion(account.name, protocol);
    return { kind: 'private', message };
  },
  actions: [
    {
      actionId: 'beta:enroll',
      once: true,
      durable: true,
      async run(value, context) {
        const { account: name, protocol } = fromButton(ButtonValue, value);
        const account = await context.workspace.accounts.resolve(context.caller, name);
        return { kind: 'replace', ...(await enroll(context, account, protocol)) };
      },
    },
  ],
});

/**
 * Enrols and says what came of it. An enrolled account stays as it is, so doing this again after a kill does no harm.
 * @throws AccountFailure, UserError
 */
async function enroll(
  { workspace }: CommandContext,
  account: Account,
  protocol: string | undefined,
): Promise<{ message: Message; audit?: Change }> {
  try {
    const outcome = await workspace.accounts.use(account, async (client) => {
      const before = await getProfile(client);
      const after = await enrollInBeta(client, protocol?.toLowerCase().replaceAll('-', '_'));
      if (!after.beta_features) return 'off';
      return before.account.beta_features ? 'already' : 'new';
    });
    return {
      message: enrolledMessage(account.name, outcome, workspace.word),
      audit: { what: 'beta enroll', target: account.name },
    };
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    const { cause } = error;
    if (cause.kind === 'admin_required') return { message: handOverMessage(account.name, cause) };
    if (cause.errorCode === 'unsupported_protocol') throw unsupported(protocol, cause);
    throw error;
  }
}

function unsupported(protocol: string | undefined, cause: ServiceError): UserError {
  const said = listMessages(cause);
  return new UserError(
    `The service has no beta for ${code(protocol)}: ${said}${saidBesides(said, cause)}`,
    'beta enroll static_hosting',
    { cause },
  );
}
