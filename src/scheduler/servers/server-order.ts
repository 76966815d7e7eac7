import { z } from 'zod';
import { Draft, Wanted } from '../../views/servers/form.ts';

/** A confirmed order of a managed server, as its job keeps it. */
export const ServerOrder = z.object({
  user: z.string(),
  /** The modal that it was confirmed in. */
  viewId: z.string(),
  draft: Draft.extend({
    project: Draft.shape.project.unwrap(),
    wanted: Wanted,
    order: z.string(),
  }),
  orderedAt: z.number(),
  /** Set before the service is asked: if the process dies from then on, the outcome is unknown. */
  asked: z.boolean(),
  created: z.object({ identifier: z.string(), name: z.string() }).optional(),
  shown: z.object({ channel: z.string(), ts: z.string() }).optional(),
});
export type ServerOrder = z.infer<typeof ServerOrder>;
