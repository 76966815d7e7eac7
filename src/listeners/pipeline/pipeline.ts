import type { CommandContext } from '../../commands/command.ts';
import { Refusal, refusalOf } from '../../commands/permission.ts';
import type { Role } from '../../core/choices.ts';
import { AccountFailure, AccountNeeded, ServiceError, UserError } from '../../core/errors.ts';
import type { Audited, Caller, Change } from '../../core/message.ts';
import type { SpanStart } from '../../observability/tracing.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { showProgress } from './respond.ts';

/** What came in, identified: who asks for which command, how it is carried out, and how it is answered. */
export interface Request<Result extends Audited> {
  kind: Kind;
  workspace: Workspace;
  caller: Caller;
  /** The command behind it; undefined where this version knows none, and then nothing needs a permission. */
  command: string | undefined;
  /** The registered name of a button, form, menu, shortcut or step. */
  what?: string | undefined;
  role?: Role | undefined;
  /** A channel that it acts in, beside the caller's. */
  actsIn?: string | undefined;
  /** Set where it needs a connected account: what is kept, to be run once there is one. */
  pending?: string | undefined;
  /** Makes a repeat do nothing. */
  claim?: Claim<Result> | undefined;
  /** True where it changes something, so that a failure is in the audit log too. */
  isChange?: boolean;
  /** The command and a button's verb, e.g. `digest pause`; left out, the command alone. */
  change?: string | undefined;
  /** What was named, where it is refused or fails before the handler says it: a public name. */
  target?: string | undefined;
  /** Shows that the work continues, after so many milliseconds. */
  showProgress?: ((elapsedMs: number) => Promise<void>) | undefined;
  run(): Promise<Result>;
  /** Left out where the result is itself the answer. */
  respond?(result: Result): Promise<void>;
  /** Answers a failure. @throws what is to be tried again by the job that carries this out */
  explain(error: unknown): Promise<Result>;
}

export interface Claim<Result> {
  /** Undefined for the first; for a repeat its result. @throws UserError that says so */
  take(): Promise<Result | undefined>;
  /** It may be asked for again. */
  release(): Promise<void>;
}

interface Ended<Result> {
  result: Result;
  outcome: 'done' | 'refused' | 'failed';
}

type Next<Result> = () => Promise<Ended<Result>>;

/** Carries out one part of the work around everything that comes after it. */
type Stage = <R extends Audited>(request: Request<R>, next: Next<R>) => Promise<Ended<R>>;

/** The context of a request, made once where it comes in. */
export function createContext(workspace: Workspace, caller: Caller): CommandContext {
  const { user, channel } = caller;
  return {
    workspace,
    caller,
    text: '',
    account: undefined,
    explain(error, { newAccount, ...fields } = {}) {
      return workspace.report(error, { user: user || undefined, channel, ...fields }, newAccount);
    },
  };
}

/** What each kind passes through, from the outside in, before its handler runs. */
const STAGES = {
  command: [instrument, explain, respond, progress, authorise, account, audit],
  action: [instrument, explain, respond, progress, authorise, once, audit],
  shortcut: [instrument, explain, respond, progress, authorise, audit],
  // A form is answered by its own ack, within the time that Slack gives.
  form: [instrument, explain, authorise, audit],
  options: [explain, authorise],
  step: [instrument, explain, respond, authorise, audit],
  tool: [instrument, explain, authorise, audit],
  // The pane of a work object: it shows, and changes nothing.
  details: [instrument, explain, authorise],
} as const satisfies Record<string, readonly Stage[]>;

export type Kind = keyof typeof STAGES;

/** Carries out what was asked for, stage by stage. */
export async function carryOut<Result extends Audited>(request: Request<Result>): Promise<Result> {
  const stages: readonly Stage[] = STAGES[request.kind];
  const work = stages.reduceRight<Next<Result>>(
    (next, stage) => () => stage(request, next),
    () => runHandler(request),
  );
  return (await work()).result;
}

async function runHandler<Result extends Audited>(request: Request<Result>): Promise<Ended<Result>> {
  const result = await request.run();
  const hasErrors = 'kind' in result && result.kind === 'errors';
  return { result, outcome: hasErrors ? 'refused' : 'done' };
}

/** A span, and a count of how it ended. Neither holds what was typed: a command's name is the registry's. */
function instrument<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  const { workspace, kind, command = 'unknown' } = request;
  return workspace.tracing.run(spanOf(request), async (span) => {
    const ended = await next();
    workspace.metrics.command(command, kind, ended.outcome);
    span.set({ 'deckhand.outcome': ended.outcome });
    if (ended.outcome === 'failed') span.fail(ended.outcome);
    return ended;
  });
}

function spanOf({ workspace, kind, command = 'unknown', what }: Request<Audited>): SpanStart {
  const attributes = () => ({
    'deckhand.command': command,
    'deckhand.what': what,
    'deckhand.workspace': workspace.id,
  });
  return { name: `${kind} ${command}`, kind: 'internal', attributes };
}

async function explain<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  try {
    return await next();
  } catch (error) {
    const outcome = isMistake(error) ? 'refused' : 'failed';
    return { result: await request.explain(error), outcome };
  }
}

async function respond<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  const ended = await next();
  await request.respond?.(ended.result);
  return ended;
}

async function progress<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  if (request.showProgress === undefined) return next();
  const endProgress = showProgress(request.workspace, request.showProgress);
  return next().finally(endProgress);
}

/** On everything that comes in, so that a role or permission that was taken away counts at once. */
async function authorise<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  const { workspace, caller, command, role, actsIn } = request;
  if (command === undefined) return next();
  const channels = [caller.channel, actsIn ?? caller.channel];
  const refusal = await refusalOf(workspace, { user: caller.user, command, role, channels });
  if (refusal === undefined) return next();
  // A menu asks with each letter that is typed, and changes nothing.
  if (request.kind !== 'options') await record(request, { what: command, target: request.target }, 'refused');
  throw refusal;
}

/** Keeps what was typed until an account is connected. */
async function account<R extends Audited>(
  { workspace, caller, pending }: Request<R>,
  next: Next<R>,
): Promise<Ended<R>> {
  if (pending === undefined || (await workspace.accounts.defaultName(caller)) !== undefined) return next();
  await workspace.waiting.keep(caller, pending);
  throw new AccountNeeded();
}

async function once<R extends Audited>({ claim }: Request<R>, next: Next<R>): Promise<Ended<R>> {
  if (claim === undefined) return next();
  const earlier = await claim.take();
  if (earlier !== undefined) return { result: earlier, outcome: 'refused' };
  try {
    const ended = await next();
    if (ended.outcome !== 'done') await claim.release();
    return ended;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Every change is in the audit log, and so is one that failed; a person's mistake changed nothing. */
async function audit<R extends Audited>(request: Request<R>, next: Next<R>): Promise<Ended<R>> {
  try {
    const ended = await next();
    const { audit: changes = [] } = ended.result;
    const result = ended.outcome === 'done' ? 'done' : 'failed';
    for (const change of [changes].flat()) await recordDone(request, change, result);
    return ended;
  } catch (error) {
    // A handler may refuse a part of what the command does.
    const about = { target: targetOf(request, error) };
    if (error instanceof Refusal) await record(request, about, 'refused');
    else if (request.isChange && !isMistake(error)) await record(request, about, 'failed');
    throw error;
  }
}

/** The account that failed, and what was named of it. */
function targetOf({ target }: Request<Audited>, error: unknown): string | undefined {
  const account = error instanceof AccountFailure ? error.account.name : undefined;
  const names = new Set([account, target].filter((name) => name !== undefined));
  return names.size === 0 ? undefined : [...names].join('/');
}

/** What was done is answered, even if it cannot be written down; a stored request is carried out again. */
async function recordDone(
  request: Request<Audited>,
  change: Change,
  result: 'done' | 'failed',
): Promise<void> {
  try {
    await record(request, change, result);
  } catch (error) {
    if (request.caller.isStored) throw error;
    const { log } = request.workspace;
    log.error(
      { event: 'audit_not_stored', command: request.command, err: error },
      'a change is not in the audit log',
    );
  }
}

function record(
  { workspace, caller, command = 'unknown', change = command }: Request<Audited>,
  { what = change, where = caller.channel, target }: Change,
  result: 'done' | 'refused' | 'failed',
): Promise<void> {
  return workspace.audit.record({ who: caller.user || 'a workflow', what, result, where, target });
}

/** What the person who asked can put right: nothing went wrong, and nothing was changed. */
function isMistake(error: unknown): boolean {
  const kinds = [UserError, AccountNeeded, ProjectNeeded, ServerNeeded];
  return kinds.some((kind) => error instanceof kind) || invalidIn(error) !== undefined;
}

/** What the service said of the fields, where it accepted none of them. */
export function invalidIn(error: unknown): ServiceError | undefined {
  const failure = error instanceof AccountFailure ? error.cause : error;
  return failure instanceof ServiceError && failure.kind === 'invalid' ? failure : undefined;
}
