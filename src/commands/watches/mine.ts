import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { bold, code, dateTime } from '../../core/mrkdwn.ts';
import { addDays, dayAt, instantAt } from '../../core/time/zone.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import type { Watch } from '../../records/schedules.ts';
import { removeSchedules } from '../../scheduler/schedules/remove-schedules.ts';
import { setUpWatch } from '../../scheduler/watches/watches.ts';
import { claimsMessage } from '../../views/accounts/identity-messages.ts';
import { context, say, withoutElement } from '../../views/blocks/make-blocks.ts';
import { MODE_WORDS } from '../../views/schedules/details.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { listEventNames } from '../accounts/identity.ts';
import type { Action } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { resolveAccount } from '../targets/targets.ts';
import { parseButton } from '../values.ts';
import { parseMode } from './watch.ts';

/** A button of every message of a person's own watch. */
const muteAction: Action = {
  actionId: 'watch:mute',
  durable: true,
  change: 'watch mute',
  async handle(value, { invocation, workspace, message }) {
    const { account } = parseButton(z.object({ account: z.string() }), value);
    const [watch] = await listOwn(workspace, invocation.user, account);
    if (watch === undefined) throw noOwnWatch();
    const zone = await readZone(workspace, invocation.user);
    const mutedUntil = instantAt(zone, addDays(dayAt(zone, workspace.clock.now()), 1), 0, 0);
    await workspace.schedules.change(watch, (current) => ({ ...current, mutedUntil }));
    const words = `:mute: Muted until ${dateTime(mutedUntil)}`;
    const muted = context(words);
    const audit = { target: account };
    if (message === undefined) return { kind: 'private', message: say(words), audit };
    const { text, blocks } = withoutElement(message, { actionId: 'watch:mute', value });
    return replyInPlace({ text, blocks: [...blocks, muted] }, audit);
  },
};

export const watchMine = defineCommand({
  name: 'watch mine',
  phrase: 'posts deployments as they happen',
  synonyms: ['notify me', 'alert me', 'tell me', 'dm me', 'message me', 'watch me', 'watch my deployments'],
  phrases: {
    'notify|alert|tell|dm|message|ping|warn|inform me about|of|when|if|for|on my|mine|own *': '',
    'watch|follow|track my|mine|me|own *': '',
    'let me know when|if|about my|mine *': '',
    'let me know about|of failures|errors|problems': 'failures',
    'dm|message|send|tell me my failures|errors|deployments|deploys': '',
    'notifications|alerts for me|mine|my': '',
    'notifications|alerts|notify|alert|subscribe|dm': '',
  },
  summary: 'Sends you direct messages about your own deployments: failures, or all events',
  usage: '[all|failures|transitions]',
  examples: ['watch mine', 'watch mine all'],
  role: 'member',
  needsAccount: true,
  durable: true,
  args: z.object({ mode: z.string().optional() }),
  async handle({ mode: modeText }, requested) {
    const { invocation, workspace } = requested;
    const mode = modeText === undefined ? 'failures' : parseMode(modeText.toLowerCase());
    if (mode === undefined)
      throw new UserError(
        `You can watch \`all\`, \`failures\` or \`transitions\` of yours, not ${code(modeText, 40)}.`,
      );
    const account = await resolveAccount(requested, SCHEDULES);
    const { user, requestId } = invocation;
    const names = await workspace.names.list(account.name);
    const claim = names.find((one) => one.user === user);
    if (claim === undefined) {
      // The command continues once the person has claimed a name.
      await workspace.waiting.keep(invocation, `watch mine ${mode} --account ${account.name}`, account.name);
      const own = await resolveAccount({ ...requested, account: account.name });
      const about = { account: account.name, user: invocation.user, word: workspace.word };
      const question = `Which name does the service give you in ${code(account.name)}? You get direct messages about the deployments under that name.`;
      const people = await listEventNames(requested, own);
      return replyPrivately(claimsMessage(names, { ...about, names: people, question }, false));
    }
    const channel = await workspace.slack.openDirect(user);
    const watched = { channel, account, mode, user, requestId, person: user };
    await setUpWatch(workspace, watched);
    const text = `:eyes: You will get a direct message about ${MODE_WORDS[mode]} of your own deployments in ${code(account.name)}, as ${bold(claim.name, 100)}. If the service renames you, ${code(`${workspace.word} me <name>`)} takes the new name.`;
    return replyPrivately(say(text), { target: account.name });
  },
  actions: [muteAction],
});

export const unwatchMine = defineCommand({
  name: 'unwatch mine',
  phrase: 'posts deployments as they happen',
  shownAs: 'unwatch',
  synonyms: ['unwatch me', 'unnotify me'],
  phrases: {
    'stop|do|no|quit not? notify|notifying|dm|dming|alert|alerting|telling|messaging|pinging me *': '',
    'unfollow|unsubscribe|unwatch|stop my|mine|me|own *': '',
  },
  summary: 'Ends the direct messages about your own deployments',
  role: 'member',
  takesAccount: true,
  durable: true,
  async handle(_, { invocation, workspace, account }) {
    if (account !== undefined) await workspace.accounts.resolve(invocation, account);
    const own = await listOwn(workspace, invocation.user, account);
    if (own.length === 0) throw noOwnWatch();
    await removeSchedules(workspace, own, invocation.requestId);
    const message = say('You will get no more direct messages about your own deployments.');
    const audit = own.map(({ account: target }) => ({ target }));
    return replyPrivately(message, audit);
  },
});

/** @param account all of them if left out */
async function listOwn(
  workspace: CommandContext['workspace'],
  user: string,
  account: string | undefined,
): Promise<Watch[]> {
  const all = await workspace.schedules.list('watch');
  return all.filter((one) => one.person === user && one.account === (account ?? one.account));
}

function noOwnWatch(): UserError {
  return new UserError('You have no watch of your own deployments.', 'watch mine');
}
