import { z } from 'zod';
import type { Reply } from '../../core/reply.ts';
import { INVOICE_SCHEDULES } from '../../records/account-keys.ts';
import type { BillingChannel } from '../../records/billing.ts';
import { ACTIVE, type Schedule } from '../../records/schedules.ts';
import { addNotices, INVOICE_FEED, INVOICE_NOTICES, knownFrom } from '../../scheduler/invoices/notices.ts';
import { resumeSchedule } from '../../scheduler/schedules/lifecycle.ts';
import { withPolling } from '../../scheduler/schedules/polling.ts';
import { noticeWords, notifyStateMessage } from '../../views/invoices/invoices.ts';
import { SCHEDULE_FACES } from '../../views/schedules/schedule.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf, channelOf } from '../resolve-target.ts';
import {
  announce,
  announceNew,
  cardOf,
  listOf,
  recordChange,
  type ScheduleFeature,
} from '../schedules/feature.ts';
import { removeHere, scheduleCommands } from '../schedules/lifecycle.ts';

/** Invoice notices, as people meet them: a channel has one schedule an account. */
const NOTICES_FEATURE: ScheduleFeature<BillingChannel> = {
  kind: INVOICE_NOTICES,
  face: SCHEDULE_FACES.invoices,
  command: 'invoices notify',
  words: ({ account }) => noticeWords(account),
  async list(channels, { word }, { store }) {
    return notifyStateMessage(await withPolling(store, INVOICE_FEED.interval, channels), word);
  },
};

const { pause, resume, remove } = scheduleCommands(NOTICES_FEATURE);

export const invoicesNotify = defineCommand({
  name: 'invoices notify',
  summary: 'Posts new, paid and overdue invoices in this channel, or stops that',
  usage: '[here|off]',
  examples: ['invoices notify here', 'invoices notify off'],
  role: 'billing',
  needsAccount: true,
  durable: true,
  args: z.object({
    what: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['here', 'on', 'off']))
      .optional(),
  }),
  actions: [pause, resume, remove].flatMap(({ actions = [] }) => actions),
  async run({ what }, context) {
    if (what === 'here' || what === 'on') return begin(context);
    const isMeant = await meantHere(context);
    return what === undefined ? showState(context, isMeant) : removeHere(NOTICES_FEATURE, context, isMeant);
  },
});

type IsMeant = (schedule: Schedule<BillingChannel>) => boolean;

/**
 * Those of the account after `--account`, else all. Notices may stand longer than their account is connected.
 * @throws UserError where the channel has none of that name, and no such account is connected
 */
async function meantHere(context: CommandContext): Promise<IsMeant> {
  const { caller, workspace } = context;
  const named = context.account?.toLowerCase();
  const isMeant: IsMeant = ({ account }) => named === undefined || account === named;
  const all = await INVOICE_NOTICES.list(workspace);
  const isKnown = all.some((one) => one.channel === caller.channel && isMeant(one));
  if (named !== undefined && !isKnown) await accountOf(context);
  return isMeant;
}

/** The service is asked now, so that a refusal is answered and only what happens from now on is posted. */
async function begin(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { requestId, user: setBy } = caller;
  const channel = channelOf(context);
  // With the key that the notices will be read with.
  const account = await accountOf(context, INVOICE_SCHEDULES);
  const all = await INVOICE_NOTICES.list(workspace);
  const existing = all.find((one) => one.channel === channel && one.account === account.name);
  if (existing?.state.kind === 'paused') return resumeHere(context, existing);
  if (existing !== undefined && existing.record.requestId !== requestId) return showState(context);
  const { invoices } = await workspace.accounts.use(account, (client) => INVOICE_FEED.fetch(client));
  const known = knownFrom(invoices, workspace.clock.now());
  const schedule = await addNotices(workspace, { channel, account: account.name, requestId, setBy, known });
  return announceNew(NOTICES_FEATURE, context, schedule, 'invoices notify');
}

async function resumeHere(context: CommandContext, schedule: Schedule<BillingChannel>): Promise<Reply> {
  const { workspace } = context;
  const prepared = await INVOICE_NOTICES.prepareResume(workspace, schedule);
  // Posted first: what cannot be posted here is not resumed.
  const resumed = { ...schedule, state: ACTIVE };
  const reply = await announce(context, schedule, cardOf(NOTICES_FEATURE, resumed, 'resumed', context));
  await resumeSchedule(workspace, INVOICE_NOTICES, schedule, { prepared });
  await recordChange(context, 'invoices notify', schedule);
  return reply;
}

async function showState(context: CommandContext, isMeant?: IsMeant): Promise<Reply> {
  return { kind: 'private', message: await listOf(NOTICES_FEATURE, context, 'here', { isMeant }) };
}
