import { z } from 'zod';
import type { Caller } from '../commands/command.ts';
import type { Deckhand } from '../deckhand.ts';
import type { JobData } from '../jobs/jobs.ts';
import { countRepeated } from '../observability/uncertain-delivery.ts';
import type { Message } from '../views/blocks/message.ts';
import { answerFailure } from './pipeline/answer-failure.ts';
import { runAction } from './pipeline/run-action.ts';
import { runCommand } from './pipeline/run-command.ts';
import { runShortcut } from './pipeline/run-shortcut.ts';
import type { Registry } from './registry.ts';

/** What was acknowledged and changes something: kept until it is carried out, also over a `kill -9`. */
export const REQUESTS = 'requests';
const SEEN_MS = 60 * 60 * 1000;

const StoredCaller = z.object({
  workspace: z.string(),
  user: z.string(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  requestId: z.string(),
});

const Stored = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    workspace: z.string(),
    caller: StoredCaller,
    text: z.string(),
    project: z.string().optional(),
  }),
  z.object({
    kind: z.literal('action'),
    workspace: z.string(),
    caller: StoredCaller,
    actionId: z.string(),
    value: z.string().optional(),
    blockId: z.string().optional(),
  }),
  z.object({
    kind: z.literal('shortcut'),
    workspace: z.string(),
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
  take(request: StoredRequest, live: Live): Promise<boolean>;
  /** True the first time, across replicas and restarts. */
  isNew(workspace: string, requestId: string): Promise<boolean>;
}

export function createDurableRequests(deckhand: Deckhand, registry: () => Registry): DurableRequests {
  const seen = deckhand.store.collection('seen', Seen);
  const live = new Map<string, Live>();

  deckhand.engine.work<JobData>(
    REQUESTS,
    async (job) => {
      const request = Stored.parse(job.data);
      const { workspace, channel, requestId } = request.caller;
      // Carried out before, to an end that nobody knows: whoever asked may have been answered.
      if (job.attempt > 1) countRepeated(deckhand, { workspace, channel, delivery: requestId });
      await carryOut(deckhand, registry(), request, live.get(requestId));
      live.delete(requestId);
    },
    {
      concurrency: 200,
      attempts: 3,
      backoffMs: 1000,
      onDeadLetter: async (data, error) => {
        const { caller } = Stored.parse(data);
        live.delete(caller.requestId);
        await answerFailure(deckhand, { channel: undefined, ...caller }, error, {});
      },
    },
  );

  async function isNew(workspace: string, requestId: string): Promise<boolean> {
    const now = deckhand.clock.now();
    return seen.create(workspace, requestId, { at: now }, now + SEEN_MS);
  }

  return {
    isNew,
    async take(request, hints) {
      const { requestId } = request.caller;
      if (!(await isNew(request.workspace, requestId))) return false;
      live.set(requestId, hints);
      return deckhand.engine.send<JobData>(REQUESTS, request, { key: requestId });
    },
  };
}

/** @throws StoreUnavailable where it is to be carried out again */
function carryOut(
  deckhand: Deckhand,
  registry: Registry,
  request: StoredRequest,
  { message, ...hints }: Partial<Live> = {},
): Promise<void> {
  const caller: Caller = { channel: undefined, ...request.caller, ...hints, isStored: true };
  switch (request.kind) {
    case 'command':
      return runCommand(deckhand, registry, { ...request, caller });
    case 'action':
      return runAction(deckhand, registry, { ...request, caller, message });
    case 'shortcut':
      return runShortcut(deckhand, registry, { ...request, caller });
  }
}

export function storable(caller: Caller): z.infer<typeof StoredCaller> {
  return StoredCaller.parse(caller);
}
