import { AccountFailure, AccountKeyUnreadable } from '../../core/errors.ts';
import { maskLines } from '../../core/mask-secrets.ts';
import { sanitize, takeStart } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import { type Episode, type EpisodeRecord, failingNow, makeProjectRef } from '../../records/episodes.ts';
import {
  type FailedStep,
  makeSearchId,
  SEARCH_KEPT_MS,
  type StepSearch,
  stepSearches,
  takeStepCall,
} from '../../records/failed-steps.ts';
import type { AccountClient } from '../../service/client.ts';
import {
  type Deployment,
  getDeployment,
  type LogEntry,
  listDeployments,
  MAX_ENTRIES,
  readStepLog,
  type Step,
} from '../../service/deployments.ts';
import type { OfferedOperation } from '../../service/operations.ts';
import {
  connects,
  findErrorLine,
  findFailedStep,
  matchDeployment,
  readLines,
} from '../../service/step-log.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Delays before the attempts to find the deployment, in milliseconds. A service may list it late. */
const DELAYS_MS = [0, 6_000, 40_000];
/** Calls of the service for one failure. */
const MAX_CALLS = 4;

const MAX_TITLE = 120;
const MAX_NAME = 60;
const MAX_LINE = 200;

/**
 * Finds the step in which the latest deployment of a failure failed. Returns undefined if the service does not offer steps, or does not
 * list the deployment within a minute. All channels that show the failure share the calls.
 */
export async function readFailedStep(
  workspace: Workspace,
  record: EpisodeRecord,
  signal: AbortSignal,
): Promise<FailedStep | undefined> {
  const { clock, offered, accounts } = workspace;
  const { account: name, project } = record.subject;
  const account = await accounts.get(name);
  const episode = failingNow(record);
  if (
    episode === undefined ||
    account?.state !== 'ok' ||
    !(await offered.has(account, 'steps', { isPatient: true }))
  )
    return undefined;
  const { latestAt: at, ref = '' } = episode;
  const id = makeSearchId({ account: name, project, ref, at });
  for (const [attempt, delayMs] of DELAYS_MS.entries()) {
    if (delayMs > 0) await clock.sleep(delayMs, signal);
    const search = await continueSearch(workspace, { id, attempt, account, record, episode, signal });
    if (search?.isOver) return search.match;
  }
  return undefined;
}

interface Attempt {
  id: string;
  /** From 0. */
  attempt: number;
  account: Account;
  record: EpisodeRecord;
  episode: Episode;
  signal: AbortSignal;
}

/** Makes the attempt, unless another channel has made it. */
function continueSearch(workspace: Workspace, attempt: Attempt): Promise<StepSearch | undefined> {
  const { store, clock } = workspace;
  return stepSearches(store).update(
    attempt.id,
    async (current = { attempts: 0, calls: 0, isOver: false }) => {
      if (current.isOver || current.attempts > attempt.attempt) return current;
      const calls = new Calls(workspace, attempt, MAX_CALLS - current.calls);
      const match = await search(workspace, calls, attempt);
      const attempts = attempt.attempt + 1;
      const isOver = match !== undefined || calls.isRefused || attempts === DELAYS_MS.length;
      return { attempts, calls: current.calls + calls.made, isOver, ...(match ? { match } : {}) };
    },
    clock.now() + SEARCH_KEPT_MS,
  );
}

/** The remaining calls for a failure. */
class Calls {
  made = 0;
  isRefused = false;
  readonly #workspace: Workspace;
  readonly #attempt: Attempt;
  readonly #most: number;

  constructor(workspace: Workspace, attempt: Attempt, most: number) {
    this.#workspace = workspace;
    this.#attempt = attempt;
    this.#most = most;
  }

  /** Returns undefined if no call remains, the service refuses the call, or it fails. */
  async make<T>(
    operation: OfferedOperation,
    call: (client: AccountClient) => Promise<T>,
  ): Promise<T | undefined> {
    const { account, signal } = this.#attempt;
    const { clock, store } = this.#workspace;
    if (this.made >= this.#most || !(await takeStepCall(store, account.name, clock.now()))) return undefined;
    this.made += 1;
    try {
      const answer = await this.#workspace.offered.use(account, operation, call);
      this.isRefused ||= answer === undefined;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AccountFailure || error instanceof AccountKeyUnreadable)) throw error;
      return undefined;
    }
  }
}

async function search(
  workspace: Workspace,
  calls: Calls,
  { account, record, episode, signal }: Attempt,
): Promise<FailedStep | undefined> {
  const project = projectId(makeProjectRef(record.subject));
  const options = { signal, retries: 0 };
  const listed = await calls.make('GET /projects/{}/deployments', (client) =>
    listDeployments(client, project, options),
  );
  const { ref, servers = [], latestAt: at } = episode;
  const match = listed && matchDeployment(listed, { ref, servers, at }, workspace.clock.now());
  if (match === undefined) return undefined;
  const whole = await calls.make('GET /projects/{}/deployments/{}', (client) =>
    getDeployment(client, project, match.identifier, options),
  );
  if (whole === undefined) return undefined;
  const step = findFailedStep(whole.steps);
  const facts = describeDeployment(whole);
  if (step === undefined) return { ...facts, connects: true };
  const hasLog = step.logs && (await workspace.offered.has(account, 'logs'));
  const place = { project, deployment: match.identifier, step: step.identifier };
  const line = hasLog ? await readReason(calls, place, signal) : undefined;
  return { ...facts, ...describeStep(step), hasLog, ...(line === undefined ? {} : { line }) };
}

/** The line that says why the step failed. Reads one page more if the latest entries do not say it. */
async function readReason(
  calls: Calls,
  place: { project: string; deployment: string; step: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const read = (before?: string): Promise<LogEntry[] | undefined> =>
    calls.make('GET /projects/{}/deployments/{}/steps/{}/logs', (client) =>
      readStepLog(client, place, { before, signal, retries: 0 }),
    );
  const newest = await read();
  if (newest === undefined) return undefined;
  const reason = pickReason(newest);
  const oldest = newest.length >= MAX_ENTRIES ? newest[0]?.id : undefined;
  if (reason?.isSure || oldest === undefined) return reason?.text;
  const earlier = pickReason((await read(oldest)) ?? []);
  return earlier?.isSure ? earlier.text : reason?.text;
}

function pickReason(entries: readonly LogEntry[]): { text: string; isSure: boolean } | undefined {
  const lines = readLines(entries);
  const match = findErrorLine(lines);
  if (match === undefined) return undefined;
  const [text = ''] = maskLines(
    lines.slice(0, match.at + 1).map((line) => line.text),
    1,
  );
  return { text: sanitize(text, MAX_LINE), isSure: match.isSure };
}

function describeDeployment({ identifier, deployer, end_revision: commit }: Deployment) {
  const { ref = '', author = '', message = '', short_message: short = '' } = commit ?? {};
  const [title = ''] = (short.trim() || message.trim()).split('\n', 1);
  return {
    deployment: identifier,
    ...textsOnly({
      revision: takeStart(ref.trim(), 7),
      message: mask(title, MAX_TITLE),
      author: mask(author, MAX_NAME),
      deployer: mask(deployer, MAX_NAME),
    }),
  };
}

function describeStep(step: Step) {
  const title = [step.stage, makePlain(step.description || step.step)]
    .map((part) => part.trim())
    .filter(Boolean);
  const [first = '', ...rest] = title;
  return {
    step: step.identifier,
    connects: connects(step),
    ...textsOnly({
      title: mask([first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(': '), MAX_TITLE),
      server: mask(step.server ?? '', MAX_NAME),
    }),
  };
}

/** "npm run build" for "Running `npm run build`" */
function makePlain(description: string): string {
  return description.replace(/^Running(?: command)?:? (?=`)/i, '').replaceAll('`', '');
}

function mask(text: string, max: number): string {
  const [line = ''] = maskLines([text.replaceAll(/\s+/g, ' ').trim()]);
  return line === '' ? '' : sanitize(line, max);
}

/** Leaves out empty texts. */
function textsOnly<T extends Record<string, string>>(texts: T): Partial<T> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')) as Partial<T>;
}
