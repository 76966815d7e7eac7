import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { cut } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { withTimeout } from '../../core/timeout.ts';
import { parseZone } from '../../jobs/zone.ts';
import { deliver, isUndeliverable } from '../../scheduler/deliver.ts';
import { addDigest, removeDigest } from '../../scheduler/digests/schedule.ts';
import { isServed } from '../../scheduler/schedules/reconcile-schedules.ts';
import { digestAddedMessage } from '../../views/digests/changed.ts';
import { DIGEST_ADD, digestModal } from '../../views/digests/form.ts';
import { nextTimes } from '../../workspace/cadence.ts';
import type { Digest } from '../../workspace/digests.ts';
import { findProject } from '../../workspace/projects.ts';
import { zoneOf } from '../../workspace/user-timezone.ts';
import type { CommandContext, Submitted, ViewState } from '../command.ts';
import { defineCommand } from '../command.ts';
import { channelOf } from '../resolve-target.ts';
import { splitWords } from '../tokenize.ts';
import { digestFormActions, type FilledDigest, nextInForm, originOf, readDigestForm } from './form.ts';
import { readDigestWords } from './parse-digest-arguments.ts';

/** Spec 4.9: what the service takes where no range is named. */
const DEFAULT_RANGE = 'last_7_days';
/** Slack's handle for opening a form dies after 3 s. */
const PATIENCE_MS = 800;

export const digestAdd = defineCommand({
  name: 'digest add',
  summary: 'Sets up a digest of the activity in this channel; without words, a form asks',
  usage:
    '[<daily|weekdays|weekly:<day>> <HH:MM> | cron:"<five fields>"] [zone] [range] [--project <project>] [--skip-quiet]',
  examples: [
    'digest add weekly:mon 09:00 Europe/Lisbon last_7_days',
    'digest add weekdays 09:00 Asia/Tokyo this_week --skip-quiet',
    'digest add cron:"*/5 * * * *" UTC today',
  ],
  role: 'operator',
  needsAccount: true,
  durable: (words) => words.length > 0,
  positionals: ['words'],
  rest: true,
  flags: ['project'],
  switches: ['skip-quiet'],
  args: z.object({
    words: z.string().optional(),
    project: z.string().optional(),
    'skip-quiet': z.literal(true).optional(),
  }),
  async run(args, context) {
    const channel = channelOf(context);
    if (args.words === undefined) return openForm(channel, context);
    // Split anew, because cron fields in quotes are one word.
    const words = readDigestWords(splitWords(context.text, ['skip-quiet']).words.slice(2));
    const { caller, workspace } = context;
    const bound = await workspace.channels.get(channel);
    return add(context, channel, {
      cadence: words.cadence,
      zone: words.zone ?? (await zoneOf(workspace, caller.user)),
      range: words.range ?? DEFAULT_RANGE,
      account: context.account ?? bound.account,
      project: args.project ?? words.project,
      skipQuiet: args['skip-quiet'] ?? false,
    });
  },
  actions: digestFormActions,
  submissions: [{ callbackId: DIGEST_ADD, role: 'operator', submit: submitAdd }],
});

async function openForm(
  channel: string,
  { caller, workspace, account: named }: CommandContext,
): Promise<Reply> {
  const { user } = caller;
  const [accounts, bound, zone] = await Promise.all([
    workspace.accounts.list(),
    workspace.channels.get(channel),
    withTimeout(workspace.clock, PATIENCE_MS, zoneOf(workspace, user)),
  ]);
  const names = accounts.map(({ name }) => name);
  const account = [named?.toLowerCase(), bound.account].find(
    (name) => name !== undefined && names.includes(name),
  );
  const values = {
    cadence: 'weekdays',
    time: '09:00',
    zone: zone ?? bound.zone ?? 'UTC',
    range: DEFAULT_RANGE,
    account,
  };
  const origin = { channel, account, accounts: names.length > 1 ? names : [] };
  const next = nextInForm(values, workspace.clock.now());
  return { kind: 'modal', view: digestModal({ origin, values, next }) };
}

async function submitAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { channel, accounts } = originOf(state);
  const read = readDigestForm(state.values, context.workspace.clock.now());
  if ('errors' in read) return { kind: 'errors', errors: read.errors };
  // With one account there is no field, and the digest covers whatever is connected.
  const account = accounts.length === 0 ? undefined : read.filled.account;
  await add(context, channel, { ...read.filled, account });
  return { kind: 'close' };
}

/** Keeps the digest and tells the channel, whose answer says whether Deckhand may post there at all. */
async function add(context: CommandContext, channel: string, asked: FilledDigest): Promise<Reply> {
  const { caller, workspace } = context;
  const { user, requestId } = caller;
  const place = await placeOf(context, asked);
  const digest = await addDigest(workspace, {
    requestId,
    channel,
    cadence: asked.cadence,
    zone: parseZone(asked.zone),
    range: asked.range,
    ...place,
    skipQuiet: asked.skipQuiet,
    setUpBy: user,
    setUpAt: workspace.clock.now(),
  });
  await tellChannel(context, digest);
  await workspace.audit.record({
    who: user,
    what: 'digest add',
    where: channel,
    target: digest.id,
    result: 'done',
  });
  return { kind: 'nothing' };
}

async function tellChannel({ caller, workspace }: CommandContext, digest: Digest): Promise<void> {
  const { requestId } = caller;
  const next = nextTimes(digest.cadence, digest.zone, workspace.clock.now(), 3);
  const message = digestAddedMessage(digest, next, workspace.config.SLACK_COMMAND);
  try {
    await deliver(workspace, {
      id: `added ${requestId}`,
      channel: digest.channel,
      message,
    });
  } catch (error) {
    if (isUndeliverable(error)) await removeDigest(workspace, digest.id);
    throw error;
  }
}

/**
 * The account and project that it is kept to.
 * @throws UserError where there is no such account or project, or none that works
 */
async function placeOf(
  { workspace }: CommandContext,
  { account: named, project: wanted }: FilledDigest,
): Promise<Pick<Digest, 'account' | 'project'>> {
  const account = await workspace.accounts.resolve(named, undefined);
  const kept = named === undefined && wanted === undefined ? {} : { account: account.name };
  const accounts = await workspace.accounts.list();
  if (!isServed({ account: kept.account }, accounts))
    throw new UserError('No connected account works that this digest could ask.', `connect ${account.name}`);
  if (wanted === undefined) return kept;
  const project = findProject(await workspace.projects.look(account), wanted);
  if (project === undefined) throw new UserError('Name the project.', 'projects');
  return { ...kept, project: { permalink: project.permalink, name: cut(project.name, 100) } };
}
