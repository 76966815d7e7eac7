import { z } from 'zod';
import type { Submitted, ViewState } from '../commands/command.ts';
import { isDurable, routeCommand } from '../commands/command-router.ts';
import type { Registry } from '../commands/registry.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { type Caller, type Message, StoredCaller } from '../core/message.ts';
import { type Clock, HOUR_MS, withTimeout } from '../core/time/clock.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import type { JobType } from '../jobs/jobs.ts';
import { countPossibleDuplicate } from '../observability/metrics.ts';
import { keysFor } from '../records/accounts.ts';
import { RUN_WAITING } from '../records/waiting-commands.ts';
import { GLOBAL } from '../store/store.ts';
import { defineJob } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { EventBody } from './payloads/schemas.ts';

/** For so long after its end a repeat of Slack's is no second request. */
export const SEEN_MS = HOUR_MS;

export function storedCaller(caller: Caller): z.infer<typeof StoredCaller> {
  return StoredCaller.parse(caller);
}

/** What a person asked for, as it is stored before its ack. Words are kept as typed: secrets are asked for in forms. */
export const StoredRequest = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    caller: StoredCaller,
    text: z.string(),
    project: z.string().optional(),
    /** It stood inside a sentence: it is offered as a button, and not carried out. */
    isAside: z.literal(true).optional(),
  }),
  z.object({
    kind: z.literal('action'),
    caller: StoredCaller,
    actionId: z.string(),
    value: z.string().optional(),
    blockId: z.string().optional(),
  }),
  z.object({
    kind: z.literal('shortcut'),
    caller: StoredCaller,
    callbackId: z.string(),
    said: z.string(),
  }),
  z.object({
    kind: z.literal('form'),
    caller: StoredCaller,
    /** Id of the stored form, whose fields are sealed. */
    form: z.string(),
  }),
]);
export type StoredRequest = z.infer<typeof StoredRequest>;

const StoredEvent = z.object({ about: z.string(), body: EventBody });
export type StoredEvent = z.infer<typeof StoredEvent>;

/**
 * What only the process that acknowledged knows: handles of Slack that are secret and expire, and what was on the
 * screen. After a restart the person is answered without them.
 */
export interface SlackHandles {
  responseUrl?: string | undefined;
  triggerId?: string | undefined;
  /** The message that was clicked. */
  message?: Message | undefined;
  /** The modal that was clicked in. */
  state?: ViewState | undefined;
  /** One for each click on a form. */
  acks?: FormAck[];
  /** The person was told that nothing was done, although the database may have stored it late. */
  isRefused?: true;
}

/** The ack of a form, which can be its outcome for two seconds. */
export interface FormAck {
  isOpen: boolean;
  answer(submitted: Submitted): Promise<void>;
}

export function callerOf({ caller }: StoredRequest, { responseUrl, triggerId }: SlackHandles): Caller {
  return { channel: undefined, ...caller, responseUrl, triggerId };
}

/** More are waiting in this process only in a flood; the oldest goes first, and is answered without. */
const MAX_HANDLES = 2_000;

/**
 * What came in and changes something, stored before its ack as a job under Slack's own id: a job with that id is both
 * "seen" and "to be carried out". A repeat has the same id, which stays taken for an hour after the end of its job.
 */
export type Inbox = ReturnType<typeof createInbox>;

export interface Handlers {
  run(workspace: Workspace, request: StoredRequest, handles: SlackHandles, attempt: number): Promise<void>;
  /** After the last failed attempt. */
  fail(workspace: Workspace, request: StoredRequest, handles: SlackHandles, error: unknown): Promise<void>;
  runEvent(event: StoredEvent): Promise<void>;
}

const EVENT_OPTIONS = { concurrency: 50, attempts: 5, backoffMs: 1000 };

export function createInbox({ run, fail, runEvent }: Handlers) {
  const handles = new RecentMap<string, SlackHandles>(MAX_HANDLES);
  const requests = defineJob({
    queue: 'requests',
    schema: StoredRequest,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000, keyStaysMs: SEEN_MS },
    async run(workspace, { attempt, data: request }) {
      const { channel, requestId } = request.caller;
      if (handles.get(requestId)?.isRefused) return;
      // The earlier attempt may have answered the person before it was cut off.
      if (attempt > 1) countPossibleDuplicate(workspace, 'post', { channel, delivery: requestId });
      await run(workspace, request, handles.get(requestId) ?? {}, attempt);
      handles.delete(requestId);
    },
    async onDeadLetter(workspace, request, error) {
      const { requestId } = request.caller;
      await fail(workspace, request, handles.get(requestId) ?? {}, error);
      handles.delete(requestId);
    },
  });
  const events = defineJob({
    queue: 'events',
    schema: StoredEvent,
    options: { ...EVENT_OPTIONS, keyStaysMs: SEEN_MS },
    run: (_, { data }) => runEvent(data),
  });
  /** About the installation itself. They may be carried out again, and nothing stays of them, as of the workspace. */
  const lifecycle = defineJob({ ...events, queue: 'lifecycle', options: EVENT_OPTIONS });
  const waiting = defineJob({
    ...RUN_WAITING,
    options: { concurrency: 4, attempts: 5, backoffMs: 1000 },
    run: (workspace) => runWaiting(workspace, requests),
  });
  return {
    jobs: [requests, events, lifecycle, waiting],
    /** @throws StoreUnavailable where it was not stored */
    async store(workspace: Workspace, request: StoredRequest, known: SlackHandles): Promise<void> {
      const { requestId } = request.caller;
      const earlier = handles.get(requestId);
      if (earlier === undefined) handles.set(requestId, known);
      earlier?.acks?.push(...(known.acks ?? []));
      await workspace.jobs.send(requests, request, { key: requestId });
    },
    /** Keeps a request from being carried out by this process after its person was told that it was not stored. */
    refuse: (requestId: string) => void handles.set(requestId, { isRefused: true }),
    /** @throws StoreUnavailable where it was not stored */
    async storeEvent(workspace: Workspace, event: StoredEvent): Promise<void> {
      const job = workspace.id === GLOBAL ? lifecycle : events;
      await inTime(workspace.clock, workspace.jobs.send(job, event, { key: event.body.event_id }));
    },
  };
}

/** Carries out, once, each command that can run now. It is forgotten after it is stored as a request of its own. */
async function runWaiting(
  { accounts, names, waiting, jobs }: Workspace,
  requests: JobType<StoredRequest>,
): Promise<void> {
  const working = (await accounts.keys()).filter(({ state }) => state === 'ok');
  for (const { id, waiting: command } of await waiting.list()) {
    const { caller, text, nameAt } = command;
    const { user } = caller;
    const canRun =
      nameAt === undefined
        ? keysFor(working, caller).length > 0
        : (await names.list(nameAt)).some((claim) => claim.user === user);
    if (!canRun) continue;
    const requestId = `waiting ${caller.requestId}`;
    await jobs.send(
      requests,
      { kind: 'command', caller: { ...caller, requestId }, text },
      { key: requestId },
    );
    await waiting.forget(id);
  }
}

/** Slack waits 3 s for an ack. */
const STORED_WITHIN_MS = 2_500;

/** @throws StoreUnavailable if the database takes longer than Slack allows */
export async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const done = await withTimeout(
    clock,
    STORED_WITHIN_MS,
    work.then((result) => ({ result })),
  );
  if (done === undefined) throw new StoreUnavailable(new Error('no answer in time'));
  return done.result;
}

/** True where it changes something, so that it is stored before its ack. */
export function isStoredFirst(registry: Registry, request: StoredRequest): boolean {
  switch (request.kind) {
    case 'form':
      return true;
    case 'command':
      return isDurableText(registry, request.text);
    case 'shortcut':
      return registry.shortcut(request.callbackId)?.shortcut.durable === true;
    case 'action': {
      const action = registry.action(request.actionId)?.action;
      const line = action?.leadsTo?.(request.blockId ?? '');
      return action?.durable === true && (line === undefined || isDurableText(registry, line));
    }
  }
}

function isDurableText({ commands }: Registry, text: string): boolean {
  const matched = routeCommand(commands, text);
  return matched !== undefined && isDurable(matched);
}
