import { z } from 'zod';
import { AccountFailure, outdated, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { enrollInBeta, getProfile } from '../../service/profile.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { addReasons, listMessages } from '../../views/blocks/service-failures.ts';
import {
  askedToEnrollMessage,
  betaMessage,
  enrolledMessage,
  enrollQuestion,
  handOverMessage,
  readHandOver,
} from '../../views/servers/beta-messages.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

export const beta = defineCommand({
  name: 'beta',
  phrase: 'shows managed servers, enrols for them',
  summary: 'Shows whether the account is in the beta of managed servers',
  usage: '[enroll [protocol]]',
  examples: ['beta', 'beta enroll'],
  role: 'member',
  target: 'account',
  async handle(_, { invocation, workspace }, { account }) {
    const [profile, mayEnroll] = await Promise.all([
      workspace.accounts.use(account, (client) => getProfile(client)),
      workspace.roles.holds(invocation.user, 'admin'),
    ]);
    return replyPrivately(betaMessage(account.name, profile, mayEnroll, workspace.word));
  },
  actions: [
    {
      // Sends the picked person a direct message.
      actionId: 'beta:tell',
      durable: true,
      async handle(picked, { invocation, workspace, blockId }) {
        const handOver = readHandOver(blockId);
        if (handOver === undefined || picked === undefined) throw outdated('menu', 'beta');
        const { account, betaUrl } = handOver;
        const key = ['beta', invocation.user, picked, account];
        if (!(await workspace.once(key, DAY_MS, invocation.requestId)))
          throw new UserError(
            `You asked <@${picked}> about this today already. Ask somebody else, or ask again tomorrow.`,
          );
        const question = askedToEnrollMessage(account, betaUrl, invocation.user, workspace.word);
        await workspace.slack.sendDirectMessage(picked, question);
        const text = `:incoming_envelope: <@${picked}> was asked in a direct message.`;
        return replyPrivately(say(text), { target: account });
      },
    },
  ],
});

/** A command of its own, because it needs another role than `beta` does. */
export const betaEnroll = defineCommand({
  name: 'beta enroll',
  phrase: 'shows managed servers, enrols for them',
  shownAs: 'beta',
  synonyms: ['beta enrol', 'enrol', 'enroll'],
  summary: 'Enrols the account in the beta of managed servers, after a question',
  usage: '[protocol]',
  examples: ['beta enroll', 'beta enroll static_hosting'],
  role: 'admin',
  target: 'account',
  args: z.object({ protocol: z.string().optional() }),
  async handle({ protocol }, { workspace }, { account }) {
    const { account: profile } = await workspace.accounts.use(account, (client) => getProfile(client));
    const message = profile.beta_features
      ? enrolledMessage(account.name, 'already', workspace.word)
      : enrollQuestion(account.name, protocol);
    return replyPrivately(message);
  },
  actions: [
    defineButton(z.object({ account: z.string(), protocol: z.string().optional() }), {
      actionId: 'beta:enroll',
      once: true,
      durable: true,
      handle: enroll,
    }),
  ],
});

/** Enrols the account and shows the outcome. A repeat after a kill changes nothing. @throws AccountFailure, UserError */
async function enroll(
  { account: accountName, protocol }: { account: string; protocol?: string | undefined },
  { invocation, workspace }: ActionContext,
): Promise<Reply> {
  const account = await workspace.accounts.resolve(invocation, accountName);
  try {
    const outcome = await workspace.accounts.use(account, async (client) => {
      const before = await getProfile(client);
      const after = await enrollInBeta(client, protocol?.toLowerCase().replaceAll('-', '_'));
      if (!after.beta_features) return 'off';
      return before.account.beta_features ? 'already' : 'new';
    });
    const audit = { what: 'beta enroll', target: account.name };
    return replyInPlace(enrolledMessage(account.name, outcome, workspace.word), audit);
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    const { cause } = error;
    if (cause.kind === 'admin_required') return replyInPlace(handOverMessage(account.name, cause));
    if (cause.errorCode !== 'unsupported_protocol') throw error;
    const words = listMessages(cause);
    const text = `The service has no beta for ${code(protocol)}: ${words}${addReasons(words, cause)}`;
    throw new UserError(text, 'beta enroll static_hosting', { cause });
  }
}
