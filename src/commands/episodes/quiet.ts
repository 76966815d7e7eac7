import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { shortenId } from '../../core/json.ts';
import { isDirect, type Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.ts';
import { failingNow, findDrawnEpisode, makeProjectRef } from '../../records/episodes.ts';
import {
  channelQuiets,
  isSameScope,
  listQuiets,
  MAX_QUIET_MS,
  type Quiet,
  type QuietScope,
} from '../../records/quiets.ts';
import {
  beginQuiet,
  endQuiet,
  listQuietFailures,
  listQuietFollowers,
} from '../../scheduler/episodes/begin-quiet.ts';
import { tellQuiet } from '../../scheduler/setup/tell-stopped.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { FAILING_LISTS } from '../../views/episodes/failing-message.ts';
import { describeScope, quietMessage } from '../../views/episodes/quiet-messages.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { type Action, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { expectAllowed, nameAdmins } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { isEverything, isKnownProject, resolveAccount, resolveProject } from '../targets/targets.ts';
import { nextMorning, nextWeekday, readQuietWords } from './quiet-words.ts';

const NAME = 'quiet';
const PERMISSION = { command: NAME, role: 'member' } as const;

/** Members may have so long. */
const MEMBER_MS = HOUR_MS;
/** "Until 08:00" pressed at seven. */
const TOLERANCE_MS = MINUTE_MS;

const QuietButton = z.object({
  key: z.string(),
  id: z.string(),
  until: z.enum(['hour', 'morning', 'monday']),
  list: z.enum(FAILING_LISTS).optional(),
});

const EndButton = z.object({
  id: z.string(),
  channel: z.string(),
  /** True on a person's own answer, which then says so. */
  isAnswer: z.boolean().optional(),
});

export const quiet = defineCommand({
  name: NAME,
  phrase: 'holds back news here for a while',
  synonyms: ['mute', 'silence', 'snooze', 'hush', 'shush', 'dnd'],
  phrases: {
    'be|stay|keep quiet|silent *': '$1',
    'is|are this|the|my? it|we|this|that|everything|things|channel quiet|muted|silent|silenced|snoozed *':
      '$1',
    'shut up *': '$1',
    'no more? alerts|notifications|messages|posts|news (until|for|today|tonight) *': '$1 $2',
    'do not disturb *': '$1',
    'mute|silence|snooze|quiet us|notifications|alerts|everything|all|channel|it|this *': '$1',
    'stop talking|posting|spamming|alerting|shouting *': '$1',
    'pause|stop notifications|alerts for|until (for|until) +': '$1 $2',
    'pause|suspend|hold|stop|enough (for|until|till) +': '$1 $2',
    'pause|suspend|hold|stop everything|all|it|this (until|till) +': '$1 $2',
    'unmute|unsnooze|unsilence|unquiet *': 'off $1',
    'end quiet|mute|silence|snooze *': 'off',
    'speak|talk again|up': 'off',
  },
  summary:
    'Holds back what watches and guards post here: for an hour if you name no time, and of everything if you name no project. Alone it shows what is quiet, or begins such an hour',
  usage: '[for <time>|until <time>] [project|all]',
  examples: ['quiet for 2h', 'quiet until 8:00 storefront', 'quiet until monday all', 'quiet off'],
  role: 'member',
  takesAccount: true,
  durable: true,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async handle({ words }, context) {
    const { workspace } = context;
    const channel = expectChannel(context);
    const now = workspace.clock.now();
    if (words === undefined) {
      await expectNoneOfSeveral(context);
      const lasting = await listQuiets(workspace.store, channel, now);
      if (lasting.length > 0) return replyPrivately(quietMessage(channel, lasting, workspace.word));
    }
    const typed = readQuietWords((words ?? '').split(' ').filter(Boolean), {
      now,
      zone: await readChannelZone(context, channel),
    });
    const scope = await resolveScope(context, typed.scope);
    if (typed.isEnd) return endScope(context, channel, typed.scope === undefined ? undefined : scope);
    const until = typed.until ?? now + MEMBER_MS;
    const begun = await begin(context, channel, { ...scope, until });
    const audit = { target: begun.project?.name ?? 'everything', where: channel };
    return replyPrivately(quietMessage(channel, [begun], workspace.word), audit);
  },
  actions: [quietFailure(), endAction()],
});

/** The channel's zone, else the person's. */
async function readChannelZone({ workspace, invocation }: CommandContext, channel: string): Promise<string> {
  return (await workspace.channels.get(channel)).zone ?? readZone(workspace, invocation.user);
}

async function resolveScope(context: CommandContext, name: string | undefined): Promise<QuietScope> {
  if (name === undefined || (isEverything(name) && !(await isKnownProject(context, name)))) {
    await expectNoneOfSeveral(context);
    return {};
  }
  const { account, project } = await resolveProject(context, name);
  return { account: account.name, project };
}

/** @throws UserError for one of several accounts, because all that a channel hears is quiet together */
async function expectNoneOfSeveral(context: CommandContext): Promise<void> {
  const { account: typed, invocation, workspace } = context;
  if (typed === undefined) return;
  const { name } = await resolveAccount(context);
  if ((await workspace.accounts.list(invocation)).length === 1) return;
  throw new UserError(
    `A channel can be quiet for a project or for everything, not for ${code(name)} alone. Name a project, or leave out ${code('--account')}.`,
    'help quiet',
  );
}

/** @throws UserError if the person may not have it so long, or nothing would be quiet */
async function begin(
  context: CommandContext,
  channel: string,
  { until, ...scope }: QuietScope & { until: number },
): Promise<Quiet> {
  const { invocation, workspace } = context;
  const { user, requestId } = invocation;
  const since = workspace.clock.now();
  if (until <= since) throw new UserError('That time is over already. Name a later one.', 'help quiet');
  if (until - since > MAX_QUIET_MS)
    throw new UserError(
      'A channel can be quiet for at most 14 days. Name an earlier time, or pause its watches.',
    );
  if ((await listQuietFollowers(workspace, channel, scope)).length === 0)
    throw new UserError(
      scope.project === undefined
        ? 'No watch or guard posts anything here, so there is nothing to quiet.'
        : `No watch or guard here follows ${describeScope(scope)}, so there is nothing to quiet.`,
      'watch list',
    );
  if (until - since > MEMBER_MS + TOLERANCE_MS) await expectMayBeLong(context, channel, scope);
  const begun = await beginQuiet(workspace, channel, {
    ...scope,
    id: shortenId(requestId),
    since,
    until,
    requestedBy: user,
    requestId,
  });
  if (begun === undefined) throw new UserError('That quiet has ended already.', 'failing');
  if (!isDirect(channel)) await tellQuiet(workspace, channel, begun);
  return begun;
}

/** Longer than an hour is for operators, and for the person who is on the failure. @throws UserError */
async function expectMayBeLong(
  { invocation: { user }, workspace }: CommandContext,
  channel: string,
  scope: QuietScope,
): Promise<void> {
  if (isDirect(channel) || (await workspace.roles.holds(user, 'operator'))) return;
  const rows = scope.project === undefined ? [] : await listQuietFailures(workspace, channel, scope);
  if (rows.some(({ doc }) => failingNow(doc)?.owner === user)) return;
  const hour = code(`${workspace.word} quiet for 1h${scope.project ? ` ${scope.project.permalink}` : ''}`);
  const own = rows.some(({ doc }) => failingNow(doc) !== undefined)
    ? ' or press “I’m on it” on its failure first,'
    : '';
  throw new UserError(
    `Members can make a channel quiet for an hour. Longer is for operators, and for whoever is on the failure. Use ${hour},${own} or ask ${await nameAdmins(workspace)}.`,
  );
}

/** @param scope undefined to end all quiets of the channel */
async function endScope(
  { workspace }: CommandContext,
  channel: string,
  scope: QuietScope | undefined,
): Promise<Reply> {
  const lasting = await listQuiets(workspace.store, channel, workspace.clock.now());
  const own = lasting.filter((one) => scope === undefined || isSameScope(one, scope));
  if (lasting.length === 0) return replyPrivately(quietMessage(channel, [], workspace.word));
  if (own.length === 0) throw new UserError(`${describeScope(scope ?? {})} is not quiet here.`, NAME);
  for (const { id } of own) await endQuiet(workspace, channel, id);
  const names = own.map((one) => describeScope(one)).join(', ');
  const audit = own.map(({ project }) => ({
    what: 'quiet end',
    target: project?.name ?? 'everything',
    where: channel,
  }));
  return replyPrivately(say(`:bell: ${names} is no longer quiet here.`), audit);
}

/** Options of the menu of a failure. They are for its project alone. */
function quietFailure(): Action {
  return defineButton(QuietButton, {
    actionId: 'episode:quiet',
    durable: true,
    change: NAME,
    async handle({ key, id, until: choice, list }, context) {
      const { invocation, workspace } = context;
      const failure = await findDrawnEpisode(workspace.store, { key, id });
      if (failure === undefined)
        throw new UserError('That failure is over, and too old to be quieted.', 'failing');
      const { subject } = failure.record;
      const { channel, account } = subject;
      await expectAllowed(context, channel, PERMISSION);
      const time = { now: workspace.clock.now(), zone: await readChannelZone(context, channel) };
      const until = {
        hour: () => time.now + HOUR_MS,
        morning: () => nextMorning(time),
        monday: () => nextWeekday('mon', '08:00', time),
      }[choice]();
      const begun = await begin(context, channel, { account, project: makeProjectRef(subject), until });
      const audit = { target: subject.name, where: channel };
      const isHere = list === undefined && invocation.channel === channel;
      if (isHere) return { kind: 'nothing', audit };
      return replyPrivately(quietMessage(channel, [begun], workspace.word), audit);
    },
  });
}

function endAction(): Action {
  return defineButton(EndButton, {
    actionId: 'quiet:end',
    durable: true,
    change: 'quiet end',
    async handle({ id, channel, isAnswer }, context) {
      const { workspace } = context;
      const present = await workspace.channelIds.findPresent(channel);
      await expectAllowed(context, present, PERMISSION);
      const ended = await endQuiet(workspace, present, id);
      const { quiets = [] } = (await channelQuiets(workspace.store).get(present)) ?? {};
      const isEnding = quiets.some((one) => one.id === id);
      if (ended === undefined && !isEnding) throw new UserError('That quiet has ended already.', 'failing');
      const audit = ended && { target: ended.project?.name ?? 'everything', where: present };
      const text = `:bell: ${ended === undefined ? 'That' : describeScope(ended)} is no longer quiet here.`;
      return isAnswer === true ? replyInPlace(say(text), audit) : { kind: 'nothing', audit };
    },
  });
}
