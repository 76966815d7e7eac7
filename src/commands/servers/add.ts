import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Reply } from '../../core/reply.ts';
import { Draft, Protocol } from '../../records/server-drafts.ts';
import { orderServer } from '../../scheduler/servers/add-server.ts';
import { FOLLOW_PROVISIONING, ServerTarget } from '../../scheduler/servers/provisioning.ts';
import { isAnyHidden } from '../../views/blocks/modal.ts';
import { confirmServerModal, creatingNotice, readServerForm, SERVER_ADD } from '../../views/servers/form.ts';
import { fromButton } from '../carried.ts';
import {
  type ActionContext,
  type CommandContext,
  defineCommand,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { channelOf, chosenProject, projectForForm } from '../resolve-target.ts';
import {
  draftOf,
  drawOrBanner,
  drawServerForm,
  lookUpCost,
  openServerForm,
  serverFormActions,
} from './form.ts';

export const serverAdd = defineCommand({
  name: 'server add',
  summary: 'Makes a managed server or static site, and follows it in a thread until it is ready',
  usage: '[project]',
  examples: ['server add', 'server add storefront'],
  role: 'operator',
  needsAccount: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: named }, context) {
    const channel = channelOf(context);
    const { account, project } = await projectForForm(context, named);
    const draft: Draft = {
      channel,
      thread: context.caller.threadTs,
      account: account.name,
      project,
      protocol: 'static_hosting',
    };
    const form = { draft, values: {}, typedProject: named };
    return { kind: 'modal', view: openServerForm(context, form), fill: () => drawOrBanner(context, form) };
  },
  actions: [
    ...serverFormActions,
    { actionId: 'server.add:check', role: 'operator', once: true, durable: true, run: checkAgain },
  ],
  submissions: [{ callbackId: SERVER_ADD, role: 'operator', submit: submitServerAdd }],
});

/** Twice: the filled-in form leads to the confirmation, and that creates. */
async function submitServerAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const draft = draftOf(state);
  return draft.wanted === undefined ? readForm(state, context, draft) : order(state, context, draft);
}

async function readForm(state: ViewState, context: CommandContext, before: Draft): Promise<Submitted> {
  const protocol = Protocol.catch(before.protocol).parse(state.values.protocol_type);
  const read = readServerForm(state.values, protocol);
  const { errors = {} } = read;
  if (isAnyHidden(errors, state.view))
    return {
      kind: 'view',
      view: await drawServerForm(context, { draft: { ...before, protocol }, values: state.values }),
    };
  if (read.wanted === undefined) return { kind: 'errors', errors };
  const { caller, workspace } = context;
  const account = await workspace.accounts.resolve(caller, before.account);
  const project = before.project ?? (await chosenProject(context, account, state.values.project));
  const draft = { ...before, protocol, project };
  const priced = await lookUpCost(context, account, draft, read.wanted);
  if (priced.kind !== 'cost') return priced;
  const { cost } = priced;
  const confirmed = { ...draft, wanted: read.wanted, cost, order: randomUUID() };
  return { kind: 'view', view: confirmServerModal(confirmed, workspace.config.SERVICE_SITES_DOMAIN) };
}

const Confirmed = Draft.required({ project: true, wanted: true, order: true });

/** Stored before the modal is answered, so that a kill neither loses the order nor sends it twice. */
async function order(
  state: ViewState,
  { caller, workspace }: CommandContext,
  draft: Draft,
): Promise<Submitted> {
  const confirmed = Confirmed.parse(draft);
  await orderServer(workspace, {
    user: caller.user,
    viewId: state.view.id,
    draft: confirmed,
    answerTs: caller.answerTs,
    orderedAt: workspace.clock.now(),
    asked: false,
  });
  return { kind: 'view', view: creatingNotice(confirmed.wanted.name) };
}

const CheckValue = z.object({ target: ServerTarget, askedBy: z.string(), startedAt: z.number() });

/** Follows a server again that was followed too long, in the same message. */
async function checkAgain(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { caller, workspace } = context;
  const { messageTs } = caller;
  const channel = channelOf(context);
  const known = fromButton(CheckValue, value);
  const settings = await workspace.channels.get(channel);
  if (messageTs === undefined) return { kind: 'nothing' };
  const followed = {
    ...known,
    resumedBy: caller.user,
    channel,
    rootTs: messageTs,
    threadTs: caller.threadTs,
    threads: settings.threads ?? true,
    posted: { ordered: '' },
    resumedRequest: caller.requestId,
  };
  await FOLLOW_PROVISIONING.send(workspace, followed);
  const { account, project, server } = known.target;
  return { kind: 'nothing', audit: { target: `${account}/${project.permalink}/${server.name}` } };
}
