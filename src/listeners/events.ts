import { z } from 'zod';
import type { Deckhand } from '../deckhand.ts';
import type { JobData } from '../jobs/jobs.ts';
import { GLOBAL } from '../store/store.ts';
import type { DurableRequests } from './durable-requests.ts';
import { Id, MaybeId, workspaceOf } from './payloads/payloads.ts';

export const EVENTS = 'events';

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

export type EventHandler = (deckhand: Deckhand, workspace: string, body: EventBody) => Promise<void>;
/**
 * What is about the installation itself. It is kept apart from the workspace's own records, which it may erase, the
 * memory of having come included.
 */
const LIFECYCLE = new Set([
  'app_uninstalled',
  'tokens_revoked',
  'team_access_granted',
  'team_access_revoked',
]);

export type EventHandlers = Readonly<Record<string, EventHandler>>;

/** Stores an event before it is acknowledged, once however often Slack sends it; then it is carried out. */
export function createEvents(
  deckhand: Deckhand,
  requests: DurableRequests,
  handlers: EventHandlers,
): (body: unknown) => Promise<void> {
  deckhand.engine.work<JobData & { about: string; body: unknown }>(
    EVENTS,
    async ({ data }) => {
      const body = EventBody.parse(data.body);
      await handlers[body.event.type]?.(deckhand, data.about, body);
    },
    { concurrency: 50, attempts: 5, backoffMs: 1000 },
  );

  return async (raw) => {
    const parsed = EventBody.safeParse(raw);
    if (!parsed.success || handlers[parsed.data.event.type] === undefined) return;
    const body = parsed.data;
    const source = body.authorizations?.[0] ?? body;
    const about = workspaceOf(source.enterprise_id, source.team_id, source.is_enterprise_install === true);
    const workspace = LIFECYCLE.has(body.event.type) ? GLOBAL : about;
    if (await requests.isNew(workspace, body.event_id))
      await deckhand.engine.send(
        EVENTS,
        { workspace, about, body: withoutSecrets(body) },
        { key: body.event_id },
      );
  };
}

/** Jobs are stored as they are, so no token goes with them: neither Slack's old one nor that of a workflow step. */
function withoutSecrets({ token: _, event, ...body }: EventBody): EventBody {
  const { bot_access_token: __, ...rest } = event;
  return { ...body, event: rest };
}
