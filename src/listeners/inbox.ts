import { z } from 'zod';
import { isDurable, routeCommand } from '../commands/command-router.ts';
import type { CommandLine } from '../commands/readings.ts';
import type { Registry } from '../commands/registry.ts';
import type { Submitted, ViewState } from '../commands/submission.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { type Invocation, type Message, StoredInvocation } from '../core/message.ts';
import { type Clock, HOUR_MS, withTimeout } from '../core/time/clock.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import { type JobType, NoData } from '../jobs/jobs.ts';
import { countPossibleDuplicate } from '../observability/metrics.ts';
import { selectKeys } from '../records/accounts.ts';
import { GLOBAL } from '../store/store.ts';
import { defineJob } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { EventBody } from './payloads/schemas.ts';

/** How long Slack's retries are recognised after a request ends. */
export const SEEN_MS = HOUR_MS;

export function pickStoredInvocation(invocation: Invocation): z.infer<typeof StoredInvocation> {
  return StoredInvocation.parse(invocation);
}

/** A request as it is stored before its ack. Text is stored as typed, because secrets are only entered in forms. */
export const StoredRequest = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    invocation: StoredInvocation,
    text: z.string(),
    project: z.string().optional(),
    /** Mentioned inside a sentence, so it is offered as a button and not run. */
    isAside: z.literal(true).optional(),
  }),
  z.object({
    kind: z.literal('action'),
    invocation: StoredInvocation,
    actionId: z.string(),
    value: z.string().optional(),
    blockId: z.string().optional(),
  }),
  z.object({
    kind: z.literal('shortcut'),
    invocation: StoredInvocation,
    callbackId: z.string(),
    messageText: z.string(),
  }),
  z.object({
    kind: z.literal('form'),
    invocation: StoredInvocation,
    /** Id of the stored form, whose fields are sealed. */
    form: z.string(),
  }),
]);
export type StoredRequest = z.infer<typeof StoredRequest>;

export const StoredEvent = z.object({ about: z.string(), body: EventBody });
export interface StoredEvent extends z.infer<typeof StoredEvent> {}

/**
 * Parts of a request that only the acknowledging process has: Slack's secret handles, which expire, and the content of
 * the screen. After a restart the person is answered without them.
 */
export interface SlackHandles {
  responseUrl?: string | undefined;
  triggerId?: string | undefined;
  message?: Message | undefined;
  /** Modal of the click. */
  state?: ViewState | undefined;
  /** The typed command, read before the ack. */
  line?: CommandLine | undefined;
  /** An ack for each click on a form. */
  acks?: FormAck[];
  /** Set if the person was told that nothing was done; the database may have stored the request late. */
  isRefused?: true;
}

/** Ack of a form, which can be its outcome for two seconds. */
export interface FormAck {
  isOpen: boolean;
  answer(submitted: Submitted): Promise<void>;
}

export function restoreInvocation(
  { invocation }: StoredRequest,
  { responseUrl, triggerId }: SlackHandles,
): Invocation {
  return { channel: undefined, ...invocation, responseUrl, triggerId };
}

/** Largest number of stored handles, reached only in a flood; the oldest is dropped, and its answer is sent without. */
const MAX_HANDLES = 2_000;

/**
 * Stores requests and events before their ack, as jobs under Slack's own id. A retry of Slack has the same id, which
 * stays taken for an hour after the job ends.
 */
export type Inbox = ReturnType<typeof createInbox>;

export interface Handlers {
  handle(workspace: Workspace, request: StoredRequest, handles: SlackHandles, attempt: number): Promise<void>;
  /** After the last failed attempt. */
  fail(workspace: Workspace, request: StoredRequest, handles: SlackHandles, error: unknown): Promise<void>;
  handleEvent(event: StoredEvent): Promise<void>;
}

const EVENT_OPTIONS = { concurrency: 50, attempts: 5, backoffMs: 1000 };

/** Handles the waiting commands that have what they waited for. */
export const WAITING: JobType<object> = { queue: 'run-waiting', schema: NoData };

export function createInbox({ handle, fail, handleEvent }: Handlers) {
  const handles = new RecentMap<string, SlackHandles>(MAX_HANDLES);
  const requests = defineJob({
    queue: 'requests',
    schema: StoredRequest,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000, keyStaysMs: SEEN_MS },
    async handle(workspace, { attempt, data: request }) {
      const { channel, requestId } = request.invocation;
      if (handles.get(requestId)?.isRefused) return;
      // The earlier attempt may have answered before it was interrupted.
      if (attempt > 1) countPossibleDuplicate(workspace, 'post', { channel, delivery: requestId });
      await handle(workspace, request, handles.get(requestId) ?? {}, attempt);
      handles.delete(requestId);
    },
    async onDeadLetter(workspace, request, error) {
      const { requestId } = request.invocation;
      await fail(workspace, request, handles.get(requestId) ?? {}, error);
      handles.delete(requestId);
    },
  });
  const events = defineJob({
    queue: 'events',
    schema: StoredEvent,
    options: { ...EVENT_OPTIONS, keyStaysMs: SEEN_MS },
    handle: (_, { data }) => handleEvent(data),
  });
  /** Events about the installation itself. Their keys are not kept, because nothing of an erased workspace may stay. */
  const lifecycle = defineJob({ ...events, queue: 'lifecycle', options: EVENT_OPTIONS });
  const waiting = defineJob({
    ...WAITING,
    options: { concurrency: 4, attempts: 5, backoffMs: 1000 },
    handle: (workspace) => sendWaiting(workspace, requests),
  });
  return {
    jobs: [requests, events, lifecycle, waiting],
    /** @throws StoreUnavailable if it was not stored */
    async store(workspace: Workspace, request: StoredRequest, own: SlackHandles): Promise<void> {
      const { requestId } = request.invocation;
      const earlier = handles.get(requestId);
      if (earlier === undefined) handles.set(requestId, own);
      earlier?.acks?.push(...(own.acks ?? []));
      await workspace.jobs.send(requests, request, { key: requestId });
    },
    /** Prevents this process from running a request after the person was told that it was not stored. */
    refuse: (requestId: string) => void handles.set(requestId, { isRefused: true }),
    /** @throws StoreUnavailable if it was not stored */
    async storeEvent(workspace: Workspace, event: StoredEvent): Promise<void> {
      const job = workspace.id === GLOBAL ? lifecycle : events;
      await inTime(workspace.clock, workspace.jobs.send(job, event, { key: event.body.event_id }));
    },
  };
}

/** Turns each waiting command that can run now into a stored request. */
async function sendWaiting(
  { accounts, names, waiting, jobs }: Workspace,
  requests: JobType<StoredRequest>,
): Promise<void> {
  const working = (await accounts.keys()).filter(({ state }) => state === 'ok');
  for (const { id, waiting: command } of await waiting.list()) {
    const { invocation, text, nameAt } = command;
    const { user } = invocation;
    const canRun =
      nameAt === undefined
        ? selectKeys(working, invocation).length > 0
        : (await names.list(nameAt)).some((claim) => claim.user === user);
    if (!canRun) continue;
    const requestId = `waiting ${invocation.requestId}`;
    await jobs.send(
      requests,
      { kind: 'command', invocation: { ...invocation, requestId }, text },
      { key: requestId },
    );
    await waiting.forget(id);
  }
}

/** Time limit for what comes before an ack, because Slack waits 3 s for it. */
export const ACK_WITHIN_MS = 2_500;

/** @throws StoreUnavailable if the database takes longer than Slack allows */
export async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const outcome = await withTimeout(
    clock,
    ACK_WITHIN_MS,
    work.then((result) => ({ result })),
  );
  if (outcome === undefined) throw new StoreUnavailable(new Error('no answer in time'));
  return outcome.result;
}

/** True if a request changes something, so that it is stored before its ack. */
export function isStoredFirst(
  registry: Registry,
  request: Exclude<StoredRequest, { kind: 'form' }>,
  { line }: SlackHandles,
): boolean {
  switch (request.kind) {
    case 'command':
      return line?.matched !== undefined && isDurable(line.matched);
    case 'shortcut':
      return registry.shortcut(request.callbackId)?.shortcut.durable === true;
    case 'action': {
      const action = registry.action(request.actionId)?.action;
      const leadsTo = action?.leadsTo?.(request.blockId ?? '');
      if (action?.opensForm?.(request.value)) return false;
      return action?.durable === true && (leadsTo === undefined || isDurableText(registry, leadsTo));
    }
  }
}

function isDurableText({ commands }: Registry, text: string): boolean {
  const matched = routeCommand(commands, text);
  return matched !== undefined && isDurable(matched);
}
