import { z } from 'zod';

/** Something that is followed: for whom, and where it is shown. Times are milliseconds since the epoch. */
export const Followed = z.object({
  /** The person who asked, and the one who had it followed again, with whose key the service is asked. */
  askedBy: z.string().optional(),
  resumedBy: z.string().optional(),
  /** Both undefined if it is shown nowhere. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** The thread that the root message is a reply in. */
  threadTs: z.string().optional(),
  startedAt: z.number(),
  /** False if only the root message is edited. */
  threads: z.boolean(),
  /** When following ended and Slack had its end; from then on nothing is left to do. */
  shownAt: z.number().optional(),
});
export type Followed = z.infer<typeof Followed>;
