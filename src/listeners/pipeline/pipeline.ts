import type { CommandContext } from '../../commands/context.ts';
import { findRefusal, Refusal } from '../../commands/permission.ts';
import type { Role } from '../../core/choices.ts';
import { AccountFailure, AccountNeeded, ServiceError, UserError } from '../../core/errors.ts';
import type { Audited, Change, Invocation } from '../../core/message.ts';
import type { SpanStart } from '../../observability/tracing.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { showProgress } from './respond.ts';

/** A request: who sent it, which command handles it, and how to reply. */
export interface Request<Result extends Audited> {
  kind: 'command' | 'action' | 'shortcut' | 'form' | 'options' | 'step' | 'tool' | 'details';
  workspace: Workspace;
  invocation: Invocation;
  /** Name of the command. Undefined if this version does not know it, so that no permission is needed. */
  command: string | undefined;
  /** Registered name of a button, form, menu, shortcut or step. */
  what?: string | undefined;
  role?: Role | undefined;
  /** Channel that it acts in, besides the invocation's. */
  actsIn?: string | undefined;
  /** Text of a command that needs a connected account; it is stored until there is one. */
  pending?: string | undefined;
  /** Prevents a second run. */
  claim?: Claim | undefined;
  /** True if it changes something, so that a failure is in the audit log too. */
  isChange?: boolean;
  /** Name of the change in the audit log, e.g. `digest pause`; the command by default. */
  change?: string | undefined;
  /** Name of the target, for the audit log of a request that fails before its handler reports a change. */
  target?: string | undefined;
  /** Shows that the work continues, with its time so far. */
  showProgress?: ((elapsedMs: number) => Promise<void>) | undefined;
  handle(): Promise<Result>;
  /** Left out if the result is itself the answer. */
  respond?(result: Result): Promise<void>;
  /** Answers a failure. @throws errors that the request's job should retry */
  explain(error: unknown): Promise<Result>;
}

export interface Claim {
  /** @throws UserError for a repeat */
  take(): Promise<void>;
  /** Allows another request. */
  release(): Promise<void>;
}

interface End<Result> {
  result: Result;
  outcome: 'done' | 'refused' | 'failed';
}

/** Creates the context of a request, once. */
export function createContext(workspace: Workspace, invocation: Invocation): CommandContext {
  const { user, channel } = invocation;
  return {
    workspace,
    invocation,
    text: '',
    account: undefined,
    explain(error, { newAccount, ...fields } = {}) {
      return workspace.report(error, { user: user || undefined, channel, ...fields }, newAccount);
    },
  };
}

/** Handles a request. Its steps are the functions below, in the order in which they run. */
export async function handleRequest<R extends Audited>(request: Request<R>): Promise<R> {
  // A menu sends a request with each typed letter.
  const end = request.kind === 'options' ? await answer(request) : await traceRequest(request);
  return end.result;
}

/** Records a span and counts the outcome, without typed text: a command's name is the registry's. */
function traceRequest<R extends Audited>(request: Request<R>): Promise<End<R>> {
  const { workspace, kind, command = 'unknown' } = request;
  return workspace.tracing.trace(describeRequestSpan(request), async (span) => {
    const end = await answer(request);
    workspace.metrics.command(command, kind, end.outcome);
    span.set({ 'deckhand.outcome': end.outcome });
    if (end.outcome === 'failed') span.fail(end.outcome);
    return end;
  });
}

/** Replies with the result, or explains the failure to the person. */
async function answer<R extends Audited>(request: Request<R>): Promise<End<R>> {
  try {
    const end = await showWork(request);
    await request.respond?.(end.result);
    return end;
  } catch (error) {
    return { result: await request.explain(error), outcome: isMistake(error) ? 'refused' : 'failed' };
  }
}

/** Shows that slow work continues. */
async function showWork<R extends Audited>(request: Request<R>): Promise<End<R>> {
  const endProgress = request.showProgress && showProgress(request.workspace, request.showProgress);
  return handleAllowed(request).finally(endProgress);
}

/** Runs the request if the person may, if it has its account, and if it did not run before. */
async function handleAllowed<R extends Audited>(request: Request<R>): Promise<End<R>> {
  await authorise(request);
  await expectAccount(request);
  return runOnce(request);
}

/** Checks the permission of every request, so that a revoked role or permission counts at once. */
async function authorise(request: Request<Audited>): Promise<void> {
  const { workspace, invocation, command, role, actsIn } = request;
  if (command === undefined) return;
  const channels = [invocation.channel, actsIn ?? invocation.channel];
  const refusal = await findRefusal(workspace, { user: invocation.user, command, role, channels });
  if (refusal === undefined) return;
  if (request.kind !== 'options') await record(request, { what: command, target: request.target }, 'refused');
  throw refusal;
}

/** Stores a command that needs an account until one is connected. */
async function expectAccount({ workspace, invocation, pending }: Request<Audited>): Promise<void> {
  if (pending === undefined || (await workspace.accounts.defaultName(invocation)) !== undefined) return;
  await workspace.waiting.keep(invocation, pending);
  throw new AccountNeeded();
}

async function runOnce<R extends Audited>(request: Request<R>): Promise<End<R>> {
  const { claim } = request;
  if (claim === undefined) return handleAudited(request);
  await claim.take();
  try {
    const end = await handleAudited(request);
    if (end.outcome !== 'done') await claim.release();
    return end;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Runs the handler. Records every change in the audit log, also failed ones. A person's mistake changes nothing. */
async function handleAudited<R extends Audited>(request: Request<R>): Promise<End<R>> {
  try {
    const result = await request.handle();
    const hasErrors = 'kind' in result && result.kind === 'errors';
    for (const change of [result.audit ?? []].flat())
      await recordDone(request, change, hasErrors ? 'failed' : 'done');
    return { result, outcome: hasErrors ? 'refused' : 'done' };
  } catch (error) {
    // A handler may refuse a part of its command.
    const about = { target: describeTarget(request, error) };
    if (error instanceof Refusal && request.kind !== 'options') await record(request, about, 'refused');
    else if (request.isChange && !isMistake(error)) await record(request, about, 'failed');
    throw error;
  }
}

function describeRequestSpan({ workspace, kind, command = 'unknown', what }: Request<Audited>): SpanStart {
  const attributes = () => ({
    'deckhand.command': command,
    'deckhand.what': what,
    'deckhand.workspace': workspace.id,
  });
  return { name: `${kind} ${command}`, kind: 'internal', attributes };
}

/** Failed account and target of a request, for the audit log. */
function describeTarget({ target }: Request<Audited>, error: unknown): string | undefined {
  const account = error instanceof AccountFailure ? error.account.name : undefined;
  const names = new Set([account, target].filter((name) => name !== undefined));
  return names.size === 0 ? undefined : [...names].join('/');
}

/** Records a change. If that fails, the person is answered anyway, unless the job can retry. */
async function recordDone(
  request: Request<Audited>,
  change: Change,
  result: 'done' | 'failed',
): Promise<void> {
  try {
    await record(request, change, result);
  } catch (error) {
    if (request.invocation.isStored) throw error;
    const { log } = request.workspace;
    log.error({ event: 'audit_not_stored', command: request.command, err: error }, 'Audit entry not stored');
  }
}

function record(
  { workspace, invocation, command = 'unknown', change = command }: Request<Audited>,
  { what = change, where = invocation.channel, target }: Change,
  result: 'done' | 'refused' | 'failed',
): Promise<void> {
  return workspace.audit.record({
    requestedBy: invocation.user || 'a workflow',
    what,
    result,
    where,
    target,
  });
}

/** True for an error that the person can correct; nothing was changed. */
function isMistake(error: unknown): boolean {
  const kinds = [UserError, AccountNeeded, ProjectNeeded, ServerNeeded];
  return kinds.some((kind) => error instanceof kind) || findInvalid(error) !== undefined;
}

/** Returns the service's errors about fields, if it refused them. */
export function findInvalid(error: unknown): ServiceError | undefined {
  const failure = error instanceof AccountFailure ? error.cause : error;
  return failure instanceof ServiceError && failure.kind === 'invalid' ? failure : undefined;
}
