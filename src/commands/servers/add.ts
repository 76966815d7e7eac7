import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AccountFailure, UserError } from '../../core/errors.ts';
import type { Change, ModalView, Reply } from '../../core/message.ts';
import type { Account } from '../../records/accounts.ts';
import { Draft, Protocol, type Wanted } from '../../records/servers.ts';
import { orderServer } from '../../scheduler/servers/add-server.ts';
import { followServer, ServerTarget } from '../../scheduler/servers/provisioning.ts';
import { enrollInBeta, getProfile, type Profile } from '../../service/profile.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { monthly } from '../../views/blocks/formats.ts';
import { resendable, withBanner } from '../../views/blocks/modal.ts';
import {
  confirmServerModal,
  creatingNotice,
  enrollFirstModal,
  handOverModal,
  type Offer,
  SERVER_ADD,
  ServerFields,
  type ServerForm,
  serverFormModal,
  valuesOf,
} from '../../views/servers/form.ts';
import {
  type ActionContext,
  type CommandContext,
  channelOf,
  defineCommand,
  FormFault,
  fromButton,
  fromForm,
  readFields,
  redraw,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { chosenProject, projectForForm } from '../targets/project.ts';

export const serverAdd = defineCommand({
  name: 'server add',
  summary: 'Makes a managed server or static site, and follows it in a thread until it is ready',
  usage: '[project]',
  examples: ['server add', 'server add storefront'],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: named }, context) {
    const channel = channelOf(context);
    const { account, project } = await projectForForm(context, named);
    const from = { channel, thread: context.caller.threadTs, account: account.name, project };
    const form = { draft: { ...from, protocol: 'static_hosting' }, values: {}, typedProject: named } as const;
    return { kind: 'modal', view: openServerForm(context, form), fill: () => drawOrBanner(context, form) };
  },
  actions: [
    { actionId: 'protocol_type', run: redraw(changeProtocol) },
    { actionId: 'subdomain', run: redraw(previewAddress) },
    { actionId: 'server.add:back', run: redraw(goBack) },
    { actionId: 'server.add:enroll', role: 'admin', run: (_, context) => enroll(context) },
    { actionId: 'server.add:check', once: true, durable: true, run: checkAgain },
  ],
  submissions: [{ callbackId: SERVER_ADD, submit: submitServerAdd, draw: drawFilledIn }],
});

/** Twice: the filled-in form leads to the confirmation, and that creates. */
async function submitServerAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const draft = draftOf(state);
  return draft.wanted === undefined ? readForm(state, context, draft) : order(state, context, draft);
}

async function readForm(state: ViewState, context: CommandContext, before: Draft): Promise<Submitted> {
  const protocol = protocolIn(state, before);
  const wanted: Wanted = readFields(ServerFields[protocol], state);
  const { caller, workspace } = context;
  const account = await workspace.accounts.resolve(caller, before.account);
  const project = before.project ?? (await chosenProject(context, account, state.values.project));
  const draft = { ...before, protocol, project };
  const priced = await lookUpCost(context, account, draft, wanted);
  if (priced.kind !== 'cost') return priced;
  const { cost } = priced;
  const confirmed = { ...draft, wanted, cost, order: randomUUID() };
  return { kind: 'view', view: confirmServerModal(confirmed, workspace.config.SERVICE_SITES_DOMAIN) };
}

function protocolIn({ values }: ViewState, { protocol }: Draft): Protocol {
  return Protocol.catch(protocol).parse(values.protocol_type);
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
  await followServer(workspace, {
    ...known,
    resumedBy: caller.user,
    channel,
    rootTs: messageTs,
    threadTs: caller.threadTs,
    threads: settings.threads ?? true,
    resumedRequest: caller.requestId,
  });
  const { account, project, server } = known.target;
  return { kind: 'nothing', audit: { target: `${account}/${project.permalink}/${server.name}` } };
}

/** The form of `server add`: its view with what the service offers, and what is clicked in it. */

function draftOf(state: ViewState): Draft {
  return fromForm(Draft, state.metadata);
}

type FilledForm = Pick<ServerForm, 'draft' | 'values' | 'typedProject'>;

/** The form at once, without what only the service knows. */
function openServerForm(context: CommandContext, form: FilledForm): ModalView {
  return serverFormModal({ ...form, offer: undefined, sitesDomain: sitesDomainOf(context) });
}

/** The form with what the service offers, or with what it failed in on top. */
function drawOrBanner(context: CommandContext, form: FilledForm): Promise<ModalView> {
  return orBanner(context, openServerForm(context, form), () => drawServerForm(context, form));
}

/**
 * The form with all that the service offers for its protocol; where the account is not in the beta, the way there.
 * @throws AccountFailure, UserError
 */
async function drawServerForm(
  context: CommandContext,
  { draft, values, typedProject }: FilledForm,
): Promise<ModalView> {
  const { caller, workspace } = context;
  const account = await workspace.accounts.resolve(caller, draft.account);
  const [profile, offer] = await Promise.all([
    workspace.accounts.use(account, (client) => getProfile(client)),
    draft.protocol === 'managed_vps' ? offerOf(context, account) : undefined,
  ]);
  if (!isEligible(profile, draft.protocol)) return enrollFirst(context, draft);
  return serverFormModal({ draft, values, offer, sitesDomain: sitesDomainOf(context), typedProject });
}

function drawFilledIn(state: ViewState, context: CommandContext): Promise<ModalView> {
  const draft = draftOf(state);
  const protocol = protocolIn(state, draft);
  return drawServerForm(context, { draft: { ...draft, protocol }, values: state.values });
}

/** The price in words, or what stands in the way of the order. */
async function lookUpCost(
  context: CommandContext,
  account: Account,
  draft: Draft,
  wanted: Wanted,
): Promise<{ kind: 'cost'; cost: string | undefined } | Submitted> {
  const { workspace } = context;
  const [profile, sizes] = await Promise.all([
    workspace.accounts.use(account, (client) => getProfile(client)),
    wanted.protocol_type === 'managed_vps' ? workspace.hosting.sizes(account) : [],
  ]);
  if (!isEligible(profile, wanted.protocol_type))
    return { kind: 'view', view: await enrollFirst(context, draft) };
  if (wanted.protocol_type === 'static_hosting') return { kind: 'cost', cost: undefined };
  const size = sizes.find(({ slug }) => slug === wanted.size);
  if (size === undefined) throw new FormFault({ size: 'This size is no longer offered.' });
  const { monthly_cost: cost, currency } = size;
  return { kind: 'cost', cost: cost === null ? undefined : monthly(cost, currency) };
}

function changeProtocol(state: ViewState, context: ActionContext, value?: string): Promise<ModalView> {
  const protocol = Protocol.parse(value);
  return drawTwice(context, { draft: { ...draftOf(state), protocol }, values: state.values });
}

async function previewAddress(state: ViewState, context: ActionContext): Promise<ModalView> {
  return openServerForm(context, { draft: draftOf(state), values: state.values });
}

function goBack(state: ViewState, context: ActionContext): Promise<ModalView> {
  const { wanted, cost: _, ...draft } = draftOf(state);
  return drawTwice(context, { draft, values: wanted === undefined ? {} : valuesOf(wanted) });
}

/** Enrolling twice changes nothing more. The form follows, or who can enrol. */
async function enroll(context: ActionContext): Promise<Reply> {
  const { caller, state, workspace } = context;
  if (state === undefined) return { kind: 'nothing' };
  let change: Change | undefined;
  const draft = draftOf(state);
  const account = await workspace.accounts.resolve(caller, draft.account);
  const next = await orBanner(context, resendable(state.view), async () => {
    try {
      await workspace.accounts.use(account, (client) => enrollInBeta(client, draft.protocol));
    } catch (error) {
      const isHandOver = error instanceof AccountFailure && error.cause.kind === 'admin_required';
      if (!isHandOver) throw error;
      return handOverModal(draft, error.cause);
    }
    change = { what: 'beta enroll', where: draft.channel, target: account.name };
    return drawServerForm(context, { draft, values: {} });
  });
  await context.updateModal(next);
  return { kind: 'nothing', audit: change };
}

/** At once with what is known, then with what the service offers. */
async function drawTwice(context: ActionContext, form: FilledForm): Promise<ModalView> {
  await context.updateModal(openServerForm(context, form));
  return drawOrBanner(context, form);
}

/** A failure stands on top of the form, where the person is and what they typed stays. */
async function orBanner(
  { explain }: CommandContext,
  view: ModalView,
  next: () => Promise<ModalView>,
): Promise<ModalView> {
  try {
    return await next();
  } catch (error) {
    if (!(error instanceof AccountFailure) && !(error instanceof UserError)) throw error;
    return withBanner(view, failureWords(explain(error, { view: 'server.add' })));
  }
}

async function offerOf({ workspace: { hosting } }: CommandContext, account: Account): Promise<Offer> {
  const [regions, sizes] = await Promise.all([hosting.regions(account), hosting.sizes(account)]);
  return { regions, sizes };
}

async function enrollFirst({ caller, workspace }: CommandContext, draft: Draft): Promise<ModalView> {
  return enrollFirstModal(draft, await workspace.roles.holds(caller.user, 'admin'));
}

function isEligible({ account }: Profile, protocol: Protocol): boolean {
  // An enrolled account may ask: what the flags refuse, the service explains in its own words.
  if (account.beta_features) return true;
  return protocol === 'static_hosting' ? account.static_hosting_eligible : account.managed_vps_eligible;
}

function sitesDomainOf({ workspace }: CommandContext): string | undefined {
  return workspace.config.SERVICE_SITES_DOMAIN;
}
