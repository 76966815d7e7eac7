import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { pauseDigest, removeDigest, resumeDigest } from '../../scheduler/digests/schedule.ts';
import { isServed } from '../../scheduler/schedules/reconcile-schedules.ts';
import { say } from '../../views/blocks/message.ts';
import {
  digestPausedMessage,
  digestRemovedMessage,
  digestResumedMessage,
  digestSnoozedMessage,
} from '../../views/digests/changed.ts';
import { type Digest, nextOf } from '../../workspace/digests.ts';
import type { Action, ActionContext, Command, CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { ListScope, listDigests } from './list.ts';
import { digestOf } from './resolve-digest.ts';

const SNOOZE_MS = 7 * 24 * 3_600_000;

const Args = z.object({ id: z.string().optional() });

/** A button's digest, and the list it stands in, if it does. */
export const DigestButton = z.object({ id: z.string(), list: ListScope.optional() });

type Change = (context: CommandContext, digest: Digest) => Promise<Message>;

export const digestPause = defineCommand({
  ...commandOf('pause', 'Pauses a digest', pause, ({ state }) => state.kind === 'active'),
  actions: [actionOf('pause', pause), actionOf('snooze', snooze)],
});

export const digestResume = defineCommand({
  ...commandOf('resume', 'Resumes a digest that is paused or snoozed', resume, isAsleep),
  actions: [actionOf('resume', resume)],
});

export const digestRemove = defineCommand({
  ...commandOf('remove', 'Removes a digest', remove),
  actions: [actionOf('remove', remove)],
});

function isAsleep({ state, snoozedUntil }: Digest): boolean {
  return state.kind === 'paused' || snoozedUntil !== undefined;
}

function commandOf(
  verb: string,
  summary: string,
  change: Change,
  fits?: (digest: Digest) => boolean,
): Command<z.infer<typeof Args>> {
  return {
    name: `digest ${verb}`,
    summary: `${summary}; the id may be left out where the channel has one`,
    usage: '[id]',
    role: 'operator',
    needsAccount: false,
    durable: true,
    positionals: ['id'],
    args: Args,
    async run({ id }, context) {
      const digest = await digestOf(context, id, fits);
      return { kind: 'channel', message: await change(context, digest) };
    },
  };
}

function actionOf(verb: string, change: Change): Action {
  return {
    actionId: `digest:${verb}`,
    role: 'operator',
    durable: true,
    run: (value, context) => clicked(value, context, change),
  };
}

/** A button of a list draws the list anew; one of a digest is answered in its thread. */
async function clicked(value: string | undefined, context: ActionContext, change: Change): Promise<Reply> {
  const { id, list } = DigestButton.parse(JSON.parse(value ?? '{}'));
  const digest = await digestOf(context, id);
  const message = await change(context, digest);
  if (list !== undefined) return { kind: 'replace', message: await listDigests(context, list) };
  const { messageTs, threadTs } = context.caller;
  const thread = threadTs ?? messageTs;
  return { kind: 'channel', message, ...(thread === undefined ? {} : { thread }) };
}

async function pause(context: CommandContext, { id }: Digest): Promise<Message> {
  const { caller, workspace } = context;
  const { user } = caller;
  const during = caller.requestId;
  const changed = await pauseDigest(workspace, id, {
    kind: 'paused',
    cause: 'person',
    reason: 'somebody paused it',
    by: user,
    at: workspace.clock.now(),
    during,
  });
  if (changed?.state.kind !== 'paused') throw goneSince(id);
  if (changed.state.during !== during)
    return say(`The digest ${code(id)} is paused already: ${changed.state.reason}.`);
  await record(context, 'digest pause', id);
  return digestPausedMessage(id, user, workspace.config.SLACK_COMMAND);
}

async function resume(context: CommandContext, digest: Digest): Promise<Message> {
  const { caller, workspace } = context;
  const { user } = caller;
  const { id, account } = digest;
  const accounts = await workspace.accounts.list();
  if (!isServed({ account }, accounts))
    throw new UserError(
      `The digest ${code(id)} has no working account to ask.`,
      `connect${account === undefined ? '' : ` ${account}`}`,
    );
  const changed = await resumeDigest(workspace, id);
  if (changed === undefined) throw goneSince(id);
  if (!isAsleep(digest)) return say(`The digest ${code(id)} is not paused.`);
  await record(context, 'digest resume', id);
  return digestResumedMessage(id, user, nextOf(changed, workspace.clock.now()));
}

async function snooze(context: CommandContext, { id }: Digest): Promise<Message> {
  const { caller, workspace } = context;
  const snoozedUntil = workspace.clock.now() + SNOOZE_MS;
  const changed = await workspace.digests.change(id, (current) => ({
    ...current,
    snoozedUntil,
  }));
  if (changed === undefined) throw goneSince(id);
  await record(context, 'digest snooze', id);
  return digestSnoozedMessage(id, caller.user, snoozedUntil, workspace.config.SLACK_COMMAND);
}

async function remove(context: CommandContext, digest: Digest): Promise<Message> {
  const { caller, workspace } = context;
  await removeDigest(workspace, digest.id);
  await record(context, 'digest remove', digest.id);
  return digestRemovedMessage(digest, caller.user, workspace.config.SLACK_COMMAND);
}

function record({ caller, workspace }: CommandContext, what: string, target: string): Promise<void> {
  const where = caller.channel === undefined ? {} : { where: caller.channel };
  return workspace.audit.record({
    who: caller.user,
    what,
    target,
    ...where,
    result: 'done',
  });
}

function goneSince(id: string): UserError {
  return new UserError(`The digest ${code(id)} was removed.`, 'digest list');
}
