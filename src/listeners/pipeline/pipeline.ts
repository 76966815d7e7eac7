import type { CommandContext } from '../../commands/command.ts';
import { findRefusal, Refusal } from '../../commands/permission.ts';
import type { Role } from '../../core/choices.ts';
import { AccountFailure, AccountNeeded, ServiceError, UserError } from '../../core/errors.ts';
import type { Audited, Change, Invocation } from '../../core/message.ts';
import type { SpanStart } from '../../observability/tracing.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { showProgress } from './respond.ts';

/** A request: who sent it, which command handles it, and how to reply. */
export interface Request<Result extends Audited> {
  kind: Kind;
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
  claim?: Claim<Result> | undefined;
  /** True if it changes something, so that a failure is in the audit log too. */
  isChange?: boolean;
  /** Name of the change in the audit log, e.g. `digest pause`; the command by default. */
  change?: string | undefined;
  /** Name of the target, for the audit log of a request that fails before its handler reports a change. */
  target?: string | undefined;
  /** Shows that the work continues, with its time so far. */
  showProgress?: ((elapsedMs: number) => Promise<void>) | undefined;
  run(): Promise<Result>;
  /** Left out if the result is itself the answer. */
  respond?(result: Result): Promise<void>;
  /** Answers a failure. @throws errors that the request's job should retry */
  explain(error: unknown): Promise<Result>;
}

export interface Claim<Result> {
  /** Returns undefined the first time, and a result for a repeat. @throws UserError for a repeat */
  take(): Promise<Result | undefined>;
  /** Allows another request. */
  release(): Promise<void>;
}

interface End<Result> {
  result: Result;
  outcome: 'done' | 'refused' | 'failed';
}

type Next<Result> = () => Promise<End<Result>>;

/** A part of the work that wraps all stages after it. */
type Stage = <R extends Audited>(request: Request<R>, next: Next<R>) => Promise<End<R>>;

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

/** Stages of each kind around its handler, the outermost first. */
const STAGES = {
  command: [instrument, explainToPerson, respond, progress, authorise, account, audit],
  action: [instrument, explainToPerson, respond, progress, authorise, once, audit],
  shortcut: [instrument, explainToPerson, respond, progress, authorise, audit],
  // The ack of a form is its answer, within the time that Slack allows.
  form: [instrument, explainToPerson, authorise, audit],
  options: [explainToPerson, authorise],
  step: [instrument, explainToPerson, respond, authorise, audit],
  tool: [instrument, explainToPerson, authorise, audit],
  // The pane of a work object changes nothing.
  details: [instrument, explainToPerson, authorise],
} as const satisfies Record<string, readonly Stage[]>;

export type Kind = keyof typeof STAGES;

/** Carries out a request, stage by stage. */
export async function runStages<Result extends Audited>(request: Request<Result>): Promise<Result> {
  const stages: readonly Stage[] = STAGES[request.kind];
  const work = stages.reduceRight<Next<Result>>(
    (next, stage) => () => stage(request, next),
    () => runHandler(request),
  );
  return (await work()).result;
}

async function runHandler<Result extends Audited>(request: Request<Result>): Promise<End<Result>> {
  const result = await request.run();
  const hasErrors = 'kind' in result && result.kind === 'errors';
  return { result, outcome: hasErrors ? 'refused' : 'done' };
}

/** Records a span and counts the outcome, without typed text: a command's name is the registry's. */
function instrument<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  const { workspace, kind, command = 'unknown' } = request;
  return workspace.tracing.run(describeRequestSpan(request), async (span) => {
    const end = await next();
    workspace.metrics.command(command, kind, end.outcome);
    span.set({ 'deckhand.outcome': end.outcome });
    if (end.outcome === 'failed') span.fail(end.outcome);
    return end;
  });
}

function describeRequestSpan({ workspace, kind, command = 'unknown', what }: Request<Audited>): SpanStart {
  const attributes = () => ({
    'deckhand.command': command,
    'deckhand.what': what,
    'deckhand.workspace': workspace.id,
  });
  return { name: `${kind} ${command}`, kind: 'internal', attributes };
}

async function explainToPerson<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  try {
    return await next();
  } catch (error) {
    const outcome = isMistake(error) ? 'refused' : 'failed';
    return { result: await request.explain(error), outcome };
  }
}

async function respond<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  const end = await next();
  await request.respond?.(end.result);
  return end;
}

async function progress<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  if (request.showProgress === undefined) return next();
  const endProgress = showProgress(request.workspace, request.showProgress);
  return next().finally(endProgress);
}

/** Checks the permission of every request, so that a revoked role or permission counts at once. */
async function authorise<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  const { workspace, invocation, command, role, actsIn } = request;
  if (command === undefined) return next();
  const channels = [invocation.channel, actsIn ?? invocation.channel];
  const refusal = await findRefusal(workspace, { user: invocation.user, command, role, channels });
  if (refusal === undefined) return next();
  // A menu sends a request with each typed letter, and changes nothing.
  if (request.kind !== 'options') await record(request, { what: command, target: request.target }, 'refused');
  throw refusal;
}

/** Stores a command that needs an account until one is connected. */
async function account<R extends Audited>(
  { workspace, invocation, pending }: Request<R>,
  next: Next<R>,
): Promise<End<R>> {
  if (pending === undefined || (await workspace.accounts.defaultName(invocation)) !== undefined)
    return next();
  await workspace.waiting.keep(invocation, pending);
  throw new AccountNeeded();
}

async function once<R extends Audited>({ claim }: Request<R>, next: Next<R>): Promise<End<R>> {
  if (claim === undefined) return next();
  const earlier = await claim.take();
  if (earlier !== undefined) return { result: earlier, outcome: 'refused' };
  try {
    const end = await next();
    if (end.outcome !== 'done') await claim.release();
    return end;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Records every change in the audit log, also failed ones. A person's mistake changes nothing. */
async function audit<R extends Audited>(request: Request<R>, next: Next<R>): Promise<End<R>> {
  try {
    const end = await next();
    const { audit: changes = [] } = end.result;
    const result = end.outcome === 'done' ? 'done' : 'failed';
    for (const change of [changes].flat()) await recordDone(request, change, result);
    return end;
  } catch (error) {
    // A handler may refuse a part of its command.
    const about = { target: describeTarget(request, error) };
    if (error instanceof Refusal) await record(request, about, 'refused');
    else if (request.isChange && !isMistake(error)) await record(request, about, 'failed');
    throw error;
  }
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
