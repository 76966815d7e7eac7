import { z } from 'zod';
import type { ViewState } from '../commands/command.ts';
import { isDurable, routeCommand } from '../commands/command-router.ts';
import { HOUR_MS } from '../core/clock.ts';
import type { Message } from '../core/message.ts';
import type { Caller } from '../core/reply.ts';
import { RecentMap } from '../core/ttl-cache.ts';
import { countRepeated } from '../observability/metrics.ts';
import { defineJob } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { EventBody } from './payloads/schemas.ts';
import type { Registry } from './registry.ts';

const SEEN_MS = HOUR_MS;

/** Who asked. Handles of Slack are secrets that expire, so they are not stored. */
export const StoredCaller = z.object({
  user: z.string(),
  team: z.string().optional(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  answerTs: z.string().optional(),
  requestId: z.string(),
});

type StoredCaller = z.infer<typeof StoredCaller>;

export function storedCaller({
  triggerId: _,
  responseUrl: __,
  isStored: ___,
  ...caller
}: Caller): StoredCaller {
  return caller;
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
]);
export type StoredRequest = z.infer<typeof StoredRequest>;

const StoredEvent = z.object({ about: z.string(), body: EventBody });
export type StoredEvent = z.infer<typeof StoredEvent>;

/**
 * What only the process that acknowledged knows: handles of Slack that are secret and expire, and what was on the
 * screen. After a restart the person is answered without them.
 */
export interface Live {
  responseUrl?: string | undefined;
  triggerId?: string | undefined;
  /** The message that was clicked. */
  message?: Message | undefined;
  /** The modal that was clicked in. */
  state?: ViewState | undefined;
}

export function callerOf({ caller }: StoredRequest, { responseUrl, triggerId }: Live): Caller {
  return { channel: undefined, ...caller, responseUrl, triggerId };
}

/** More are waiting in this process only in a flood; the oldest goes first, and is answered without. */
const MOST_LIVE = 2_000;

/** The job that carried the request out, so that a kill does not make a job a stranger to itself. */
const Seen = z.object({ at: z.number(), job: z.string().optional() });

/** Where what changes something is stored before its ack, and carried out from: one write holds the whole request. */
export type DurableRequests = ReturnType<typeof createDurableRequests>;

export interface Handlers {
  run(workspace: Workspace, request: StoredRequest, live: Live): Promise<void>;
  /** After the last failed attempt. */
  fail(workspace: Workspace, request: StoredRequest, live: Live, error: unknown): Promise<void>;
  runEvent(event: StoredEvent): Promise<void>;
}

export function createDurableRequests({ run, fail, runEvent }: Handlers) {
  const live = new RecentMap<string, Live>(MOST_LIVE);
  const requests = defineJob({
    queue: 'requests',
    schema: StoredRequest,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000 },
    isAwaited: true,
    async run(workspace, { id, attempt, data: request }) {
      const { channel, requestId } = request.caller;
      if (await isFirst(workspace, requestId, id)) {
        // The earlier attempt may have answered the person before it was cut off.
        if (attempt > 1) countRepeated(workspace, { channel, delivery: requestId });
        await run(workspace, request, live.get(requestId) ?? {});
      }
      live.delete(requestId);
    },
    async onDeadLetter(workspace, request, error) {
      const { requestId } = request.caller;
      await fail(workspace, request, live.get(requestId) ?? {}, error);
      live.delete(requestId);
    },
  });
  const events = defineJob({
    queue: 'events',
    schema: StoredEvent,
    options: { concurrency: 50, attempts: 5, backoffMs: 1000 },
    isAwaited: true,
    async run(workspace, { id, data }) {
      if (await isFirst(workspace, data.body.event_id, id)) await runEvent(data);
    },
  });
  return {
    jobs: [requests, events],
    /** False where the very same request is waiting or running. @throws StoreUnavailable where it was not stored */
    store(workspace: Workspace, request: StoredRequest, hints: Live): Promise<boolean> {
      const { requestId } = request.caller;
      if (!live.has(requestId)) live.set(requestId, hints);
      return workspace.jobs.send(requests, request, { key: requestId, lane: laneOf(request) });
    },
    storeEvent: (workspace: Workspace, event: StoredEvent) =>
      workspace.jobs.send(events, event, { key: event.body.event_id }),
    /** True the first time, across replicas and restarts; for what is not stored. */
    isNew: (workspace: Workspace, requestId: string) => isFirst(workspace, requestId, undefined),
  };
}

/** A channel's requests wait for each other, as its posts do; those for an account that they name only for these. */
function laneOf({ caller, ...request }: StoredRequest): string {
  const account =
    request.kind === 'command' ? /(?:^|\s)--account[\s=]+(\S{1,80})/.exec(request.text)?.[1] : undefined;
  return [caller.channel ?? caller.user, account ?? []].flat().join(' ');
}

/**
 * A repeat that comes while the first is waiting has its key; one that comes later is known here. `job` finds itself again
 * after a kill.
 */
export async function isFirst(
  { store, clock }: Pick<Workspace, 'store' | 'clock'>,
  requestId: string,
  job: string | undefined,
): Promise<boolean> {
  const seen = store.collection('seen', Seen);
  const at = clock.now();
  const entry = { at, job };
  if (await seen.create(requestId, entry, at + SEEN_MS)) return true;
  if (job === undefined) return false;
  const standing = await seen.get(requestId);
  // Release 0.1 wrote it before the job, and without one.
  return standing?.job === undefined || standing.job === job;
}

/** True where it changes something, so that it is stored before its ack. */
export function isStoredFirst(registry: Registry, request: StoredRequest): boolean {
  switch (request.kind) {
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
