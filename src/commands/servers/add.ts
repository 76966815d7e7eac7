import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AccountFailure, UserError } from '../../core/errors.ts';
import type { Change, ModalView, Reply } from '../../core/message.ts';
import type { Account } from '../../records/accounts.ts';
import { Draft, Protocol, type RequestedServer } from '../../records/known-servers.ts';
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
  fillServerForm,
  handOverModal,
  type Offer,
  SERVER_ADD,
  ServerFields,
  type ServerForm,
  serverFormModal,
} from '../../views/servers/server-modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ActionContext, defineButton, redraw } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { FormFault, readFields, type Submitted, type ViewState } from '../submission.ts';
import { resolveForForm, resolveFormTarget } from '../targets/targets.ts';
import { parseForm } from '../values.ts';

const CheckValue = z.object({ target: ServerTarget, requestedBy: z.string(), startedAt: z.number() });

export const serverAdd = defineCommand({
  name: 'server add',
  phrase: 'creates a managed server',
  synonyms: ['server create', 'server new'],
  phrases: {
    'add|create|new|make|order|provision|launch|spin|buy up? a|another? new? managed? server|vps|site|droplet for|to|in? *':
      '$1',
  },
  summary: 'Makes a managed server or static site, and follows it in a thread until it is ready',
  usage: '[project]',
  examples: ['server add', 'server add storefront'],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async handle({ project: projectName }, context) {
    const channel = expectChannel(context);
    const { account, project } = await resolveForForm(context, projectName);
    const from = { channel, thread: context.invocation.threadTs, account: account.name, project };
    const form = {
      draft: { ...from, protocol: 'static_hosting' },
      values: {},
      typedProject: projectName,
    } as const;
    return { kind: 'modal', view: drawEmptyForm(context, form), fill: () => drawOrBanner(context, form) };
  },
  actions: [
    { actionId: 'protocol_type', handle: redraw(changeProtocol) },
    {
      actionId: 'subdomain',
      handle: redraw(async (state, context) =>
        drawEmptyForm(context, { draft: readDraft(state), values: state.values }),
      ),
    },
    { actionId: 'server.add:back', handle: redraw(goBack) },
    { actionId: 'server.add:enroll', role: 'admin', handle: (_, context) => enrollForOrder(context) },
    defineButton(CheckValue, {
      actionId: 'server.add:check',
      once: true,
      durable: true,
      handle: checkServerAgain,
    }),
  ],
  submissions: [{ callbackId: SERVER_ADD, submit: submitServerAdd, draw: drawFilledIn }],
});

/** Runs twice: the form leads to the confirmation, and the confirmation orders the server. */
async function submitServerAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const draft = readDraft(state);
  return draft.requested === undefined ? confirm(state, context, draft) : order(state, context, draft);
}

/** Asks for a confirmation with the price, or shows what prevents the order. */
async function confirm(state: ViewState, context: CommandContext, before: Draft): Promise<Submitted> {
  const protocol = readProtocol(state, before);
  const requested: RequestedServer = readFields(ServerFields[protocol], state);
  const { workspace } = context;
  const { account, project } = await resolveFormTarget(context, before, state.values.project);
  const draft = { ...before, protocol, project };
  const offer = await readOffer(workspace, account, protocol);
  if (offer === undefined) return { kind: 'view', view: await enrollFirst(context, draft) };
  const confirmed = { ...draft, requested, ...findChoice(requested, offer), order: randomUUID() };
  return { kind: 'view', view: confirmServerModal(confirmed, workspace.config.SERVICE_SITES_DOMAIN) };
}

/** Regions and sizes for a managed server, none for a site; undefined for an account outside the beta. @throws AccountFailure */
async function readOffer(
  { accounts, hosting }: Workspace,
  account: Account,
  protocol: Protocol,
): Promise<Offer | undefined> {
  const isManaged = protocol === 'managed_vps';
  const [profile, regions, sizes] = await Promise.all([
    accounts.use(account, (client) => getProfile(client)),
    isManaged ? hosting.regions(account) : [],
    isManaged ? hosting.sizes(account) : [],
  ]);
  return isEligible(profile, protocol) ? { regions, sizes } : undefined;
}

/** The price in words, and the names of the chosen size and region. @throws FormFault */
function findChoice(requested: RequestedServer, offer: Offer): Pick<Draft, 'cost' | 'names'> {
  if (requested.protocol_type === 'static_hosting') return {};
  const size = offer.sizes.find(({ slug }) => slug === requested.size);
  if (size === undefined)
    throw new FormFault({ size: 'This size is no longer offered. Choose another one.' });
  const { monthly_cost: cost, currency, label } = size;
  const region = offer.regions.find(({ slug }) => slug === requested.region)?.name ?? requested.region;
  return { names: { region, size: label }, ...(cost !== null && { cost: monthly(cost, currency) }) };
}

function readProtocol({ values }: ViewState, { protocol }: Draft): Protocol {
  return Protocol.catch(protocol).parse(values.protocol_type);
}

const Confirmed = Draft.required({ project: true, requested: true, order: true });

/** Stores the order before the modal is answered, so that a kill neither loses nor repeats it. */
async function order(
  state: ViewState,
  { invocation, workspace }: CommandContext,
  draft: Draft,
): Promise<Submitted> {
  const confirmed = Confirmed.parse(draft);
  await orderServer(workspace, {
    user: invocation.user,
    viewId: state.view.id,
    draft: confirmed,
    answerTs: invocation.answerTs,
    orderedAt: workspace.clock.now(),
    isSent: false,
  });
  return { kind: 'view', view: creatingNotice(confirmed.requested.name) };
}

/** Follows a server again in the same message, after the time limit. */
async function checkServerAgain(value: z.infer<typeof CheckValue>, context: ActionContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { messageTs } = invocation;
  const channel = expectChannel(context);
  const settings = await workspace.channels.get(channel);
  if (messageTs === undefined) return { kind: 'nothing' };
  await followServer(workspace, {
    ...value,
    resumedBy: invocation.user,
    channel,
    rootTs: messageTs,
    threadTs: invocation.threadTs,
    threads: settings.threads ?? true,
    resumedRequest: invocation.requestId,
  });
  const { account, project, server } = value.target;
  return { kind: 'nothing', audit: { target: `${account}/${project.permalink}/${server.name}` } };
}

function readDraft(state: ViewState): Draft {
  return parseForm(Draft, state.metadata);
}

type FilledForm = Pick<ServerForm, 'draft' | 'values' | 'typedProject'>;

/** The form without the service's regions and sizes, to open at once. */
function drawEmptyForm({ workspace }: CommandContext, form: FilledForm): ModalView {
  return serverFormModal({ ...form, offer: undefined, sitesDomain: workspace.config.SERVICE_SITES_DOMAIN });
}

/** The form with regions and sizes, or with the service's failure above it. */
function drawOrBanner(context: CommandContext, form: FilledForm): Promise<ModalView> {
  return orBanner(context, drawEmptyForm(context, form), () => drawServerForm(context, form));
}

/**
 * The form with regions and sizes for its protocol. For an account outside the beta, the question whether to enrol.
 * @throws AccountFailure, UserError
 */
async function drawServerForm(
  context: CommandContext,
  { draft, values, typedProject }: FilledForm,
): Promise<ModalView> {
  const { invocation, workspace } = context;
  const account = await workspace.accounts.resolve(invocation, draft.account);
  const offer = await readOffer(workspace, account, draft.protocol);
  if (offer === undefined) return enrollFirst(context, draft);
  const { SERVICE_SITES_DOMAIN: sitesDomain } = workspace.config;
  return serverFormModal({ draft, values, offer, sitesDomain, typedProject });
}

function drawFilledIn(state: ViewState, context: CommandContext): Promise<ModalView> {
  const draft = readDraft(state);
  const protocol = readProtocol(state, draft);
  return drawServerForm(context, { draft: { ...draft, protocol }, values: state.values });
}

function changeProtocol(state: ViewState, context: ActionContext, value?: string): Promise<ModalView> {
  const protocol = Protocol.parse(value);
  return drawTwice(context, { draft: { ...readDraft(state), protocol }, values: state.values });
}

function goBack(state: ViewState, context: ActionContext): Promise<ModalView> {
  const { requested, cost: _, names: __, ...draft } = readDraft(state);
  return drawTwice(context, { draft, values: requested === undefined ? {} : fillServerForm(requested) });
}

/** Enrols the account, then shows the form, or who can enrol. A repeat changes nothing. */
async function enrollForOrder(context: ActionContext): Promise<Reply> {
  const { invocation, state, workspace } = context;
  if (state === undefined) return { kind: 'nothing' };
  let change: Change | undefined;
  const draft = readDraft(state);
  const account = await workspace.accounts.resolve(invocation, draft.account);
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

/** Draws the form at once, then again with regions and sizes. */
async function drawTwice(context: ActionContext, form: FilledForm): Promise<ModalView> {
  await context.updateModal(drawEmptyForm(context, form));
  return drawOrBanner(context, form);
}

/** Shows a failure above the form, so that the typed values remain. */
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

async function enrollFirst({ invocation, workspace }: CommandContext, draft: Draft): Promise<ModalView> {
  return enrollFirstModal(draft, await workspace.roles.holds(invocation.user, 'admin'));
}

function isEligible({ account }: Profile, protocol: Protocol): boolean {
  // An enrolled account may try: the service explains a refusal in its own words.
  if (account.beta_features) return true;
  const { static_hosting_eligible: site, managed_vps_eligible: machine } = account;
  // The service also explains it if its profile does not tell.
  return (protocol === 'static_hosting' ? site : machine) !== false;
}
