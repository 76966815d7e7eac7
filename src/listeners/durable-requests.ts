import { z } from 'zod';
import type { Message } from '../core/message.ts';
import type { Caller } from '../core/reply.ts';
import { countRepeated } from '../observability/uncertain-delivery.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { answerFailure } from './pipeline/answer-failure.ts';
import { runAction } from './pipeline/run-action.ts';
import { runCommand } from './pipeline/run-command.ts';
import { runShortcut } from './pipeline/run-shortcut.ts';
import type { Registry } from './registry.ts';

const SEEN_MS = 60 * 60 * 1000;

const StoredCaller = z.object({
  user: z.string(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  requestId: z.string(),
});

const Stored = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    caller: StoredCaller,
    text: z.string(),
    project: z.string().optional(),
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
export type StoredRequest = z.infer<typeof Stored>;

/**
 * What only the process that acknowledged knows: response addresses are secrets that die in half an hour, and the
 * message is there to be redrawn at once. After a restart the person is answered without them.
 */
export interface Live {
  responseUrl: string | undefined;
  triggerId: string | undefined;
  message?: Message | undefined;
}

const Seen = z.object({ at: z.number() });

export interface DurableRequests {
  /** Stores a request before its ack; false where the very same was taken before. */
  take(workspace: Workspace, request: StoredRequest, live: Live): Promise<boolean>;
  /** True the first time, across replicas and restarts. */
  isNew(workspace: Workspace, requestId: string): Promise<boolean>;
  job: JobDefinition<StoredRequest>;
}

export function createDurableRequests(registry: Registry): DurableRequests {
  const live = new Map<string, Live>();
  const job = defineJob({
    queue: 'requests',
    schema: Stored,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000 },
    async run(workspace, { data: request, attempt }) {
      const { channel, requestId } = request.caller;
      // Carried out before, to an end that nobody knows: whoever asked may have been answered.
      if (attempt > 1) countRepeated(workspace, { channel, delivery: requestId });
      await carryOut(workspace, registry, request, live.get(requestId));
      live.delete(requestId);
    },
    async onDeadLetter(workspace, { caller }, error) {
      live.delete(caller.requestId);
      await answerFailure(workspace, { channel: undefined, ...caller }, error, {});
    },
  });
  return {
    job,
    isNew,
    async take(workspace, request, hints) {
      const { requestId } = request.caller;
      if (!(await isNew(workspace, requestId))) return false;
      live.set(requestId, hints);
      return workspace.jobs.send(job, request, { key: requestId });
    },
  };
}

function isNew({ store, clock }: Workspace, requestId: string): Promise<boolean> {
  const now = clock.now();
  return store.collection('seen', Seen).create(requestId, { at: now }, now + SEEN_MS);
}

/** @throws StoreUnavailable where it is to be carried out again */
function carryOut(
  workspace: Workspace,
  registry: Registry,
  request: StoredRequest,
  { message, ...hints }: Partial<Live> = {},
): Promise<void> {
  const caller: Caller = { channel: undefined, ...request.caller, ...hints, isStored: true };
  switch (request.kind) {
    case 'command':
      return runCommand(workspace, registry, { ...request, caller });
    case 'action':
      return runAction(workspace, registry, { ...request, caller, message });
    case 'shortcut':
      return runShortcut(workspace, registry, { ...request, caller });
  }
}

export function storable(caller: Caller): z.infer<typeof StoredCaller> {
  return StoredCaller.parse(caller);
}
