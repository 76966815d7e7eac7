import { z } from 'zod';

import { GLOBAL } from '../store/store.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { DurableRequests } from './durable-requests.ts';
import { Id, MaybeId, workspaceOf } from './payloads/payloads.ts';

/** An event of Slack's Events API, as far as every handler needs it. */
export const EventBody = z.looseObject({
  type: z.literal('event_callback'),
  event_id: Id,
  event_time: z.number(),
  team_id: MaybeId,
  enterprise_id: MaybeId,
  is_enterprise_install: z.boolean().nullish(),
  authorizations: z
    .array(
      z.looseObject({
        team_id: MaybeId,
        enterprise_id: MaybeId,
        is_enterprise_install: z.boolean().nullish(),
      }),
    )
    .nullish(),
  event: z.looseObject({ type: z.string() }),
});
export type EventBody = z.infer<typeof EventBody>;

export type EventHandler = (workspace: Workspace, body: EventBody) => Promise<void>;
/**
 * What is about the installation itself. It is kept apart from the workspace's own records, which it may erase, the
 * memory of having come included.
 */
export const LIFECYCLE_EVENTS: readonly string[] = [
  'app_uninstalled',
  'tokens_revoked',
  'team_access_granted',
  'team_access_revoked',
];

export type EventHandlers = Readonly<Record<string, EventHandler>>;

const StoredEvent = z.object({ about: z.string(), body: EventBody });

export interface Events {
  /** Stores an event before it is acknowledged, once however often Slack sends it; then it is carried out. */
  take(body: unknown): Promise<void>;
  job: JobDefinition<z.infer<typeof StoredEvent>>;
}

export function createEvents(
  workspaces: Workspaces,
  requests: DurableRequests,
  handlers: EventHandlers,
): Events {
  const job = defineJob({
    queue: 'events',
    schema: StoredEvent,
    options: { concurrency: 50, attempts: 5, backoffMs: 1000 },
    async run(_, { data: { about, body } }) {
      await handlers[body.event.type]?.(workspaces.open(about), body);
    },
  });
  return {
    job,
    async take(raw) {
      const parsed = EventBody.safeParse(raw);
      if (!parsed.success || handlers[parsed.data.event.type] === undefined) return;
      const body = parsed.data;
      const source = body.authorizations?.[0] ?? body;
      const about = workspaceOf(source.enterprise_id, source.team_id, source.is_enterprise_install === true);
      const keeper = workspaces.open(LIFECYCLE_EVENTS.includes(body.event.type) ? GLOBAL : about);
      if (await requests.isNew(keeper, body.event_id))
        await keeper.jobs.send(job, { about, body: withoutSecrets(body) }, { key: body.event_id });
    },
  };
}

/** Jobs are stored as they are, so no token goes with them: neither Slack's old one nor that of a workflow step. */
function withoutSecrets({ token: _, event, ...body }: EventBody): EventBody {
  const { bot_access_token: __, ...rest } = event;
  return { ...body, event: rest };
}
