import { z } from 'zod';

/** Ids name records in the store, so only characters that are safe there are accepted. */
export const Id = z.string().regex(/^[^/\s\p{Cc}]{1,64}$/u);
/** Some senders leave a field empty rather than out. */
export const MaybeId = z
  .union([Id, z.literal('')])
  .nullish()
  .transform((id) => id || undefined);

const Installation = z.looseObject({
  team_id: MaybeId,
  enterprise_id: MaybeId,
  is_enterprise_install: z.boolean().nullish(),
});

/** The envelope of Slack's Events API; `event` is parsed by its handler. */
export const EventBody = Installation.extend({
  type: z.literal('event_callback'),
  event_id: Id,
  /** Seconds since the epoch. */
  event_time: z.number(),
  authorizations: z.array(Installation).nullish(),
  event: z.looseObject({ type: z.string() }),
});
export type EventBody = z.infer<typeof EventBody>;
