import { z } from 'zod';
import { withTimeout } from '../../core/clock.ts';
import { normalizeName } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { unknownAccount } from '../../records/accounts.ts';
import { projectOfChannel } from '../../records/channels.ts';
import { addDigest } from '../../scheduler/digests/schedule.ts';
import { DIGEST_ADD, digestModal } from '../../views/digests/form.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { type CommandContext, defineCommand, type Submitted, type ViewState } from '../command.ts';
import { splitWords } from '../command-router.ts';
import { channelOf } from '../resolve-target.ts';
import { announceNew } from '../schedules/feature.ts';
import { SYNONYMS } from '../synonyms.ts';
import {
  choicesOf,
  digestFormActions,
  type FilledDigest,
  nextInForm,
  originOf,
  readDigestForm,
} from './form.ts';
import { DIGEST_FEATURE } from './lifecycle.ts';
import { readDigestWords } from './parse-digest-arguments.ts';

/** API 4.9 (docs/service-api.md): what the service takes where no range is named. */
const DEFAULT_RANGE = 'last_7_days';
/** Slack's handle for opening a form dies after 3 s. */
const ZONE_TIMEOUT_MS = 800;

export const digestAdd = defineCommand({
  name: 'digest add',
  summary: 'Sets up a digest of the activity in this channel; without words, in a form',
  usage:
    '[<daily|weekdays|weekly:<day>> <HH:MM> | cron:"<five fields>"] [zone] [range] [--project <project>|all] [--skip-quiet]',
  examples: [
    'digest add weekly:mon 09:00 Europe/Lisbon last_7_days',
    'digest add weekdays 09:00 Asia/Tokyo this_week --skip-quiet',
    'digest add cron:"*/5 * * * *" UTC today',
  ],
  role: 'operator',
  needsAccount: true,
  durable: (words) => words.length > 0,
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
    const typed = splitWords(context.text, ['skip-quiet']).words;
    const isOneWord = SYNONYMS.get(normalizeName(typed[0] ?? '')) === 'digest add';
    const words = readDigestWords(typed.slice(isOneWord ? 1 : 2));
    const { caller, workspace } = context;
    const bound = await workspace.channels.get(channel);
    const account = context.account ?? bound.account;
    return add(context, channel, {
      cadence: words.cadence,
      zone: words.zone ?? (await zoneOf(workspace, caller.user)),
      range: words.range ?? DEFAULT_RANGE,
      account,
      project: args.project ?? words.project ?? projectOfChannel(bound, account)?.permalink,
      skipQuiet: args['skip-quiet'] ?? false,
    });
  },
  actions: digestFormActions(DIGEST_ADD),
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
    withTimeout(workspace.clock, ZONE_TIMEOUT_MS, zoneOf(workspace, user)),
  ]);
  const names = accounts.map(({ name }) => name);
  if (named !== undefined && !names.includes(named.toLowerCase())) throw unknownAccount(named);
  const account = [named?.toLowerCase(), bound.account].find(
    (name) => name !== undefined && names.includes(name),
  );
  const values = {
    cadence: 'weekdays',
    time: '09:00',
    zone: zone ?? bound.zone ?? 'UTC',
    range: DEFAULT_RANGE,
    account,
    project: projectOfChannel(bound, account)?.permalink,
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

/** Stores the digest and says so in the channel; where Deckhand may not post there, there is no digest. */
async function add(context: CommandContext, channel: string, asked: FilledDigest): Promise<Reply> {
  const { user: setUpBy, requestId } = context.caller;
  const choices = await choicesOf(context, asked);
  const schedule = await addDigest(context.workspace, { ...choices, requestId, channel, setUpBy });
  return announceNew(DIGEST_FEATURE, context, schedule, 'digest add');
}
