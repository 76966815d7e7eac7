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
  /** Where a mention is answered. */
  answerTs: z.string().optional(),
  orderedAt: z.number(),
  /** Set before the service is asked: if the process dies from then on, the outcome is unknown. */
  asked: z.boolean(),
  /** The servers that had its name before, where the service lists servers: another one is the ordered one. */
  namesakes: z.array(z.string()).optional(),
  created: z.object({ identifier: z.string(), name: z.string() }).optional(),
  /** Set before the root message is posted: if the process dies from then on, it may stand twice. */
  posting: z.boolean().optional(),
  maybeTwice: z.boolean().optional(),
  shown: z.object({ channel: z.string(), ts: z.string() }).optional(),
});
export type ServerOrder = z.infer<typeof ServerOrder>;
