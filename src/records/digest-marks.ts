import { z } from 'zod';

/** How far a digest has reported an account. */
export const Mark = z.object({
  /** Number of the first entry of the ledger that it has not reported. */
  next: z.number(),
  /** When that was read, milliseconds since the epoch. */
  at: z.number(),
});
export interface Mark extends z.infer<typeof Mark> {}

/** One for each account. */
const Marks = z.record(z.string(), Mark);

/** How far a digest of the range `since_last` has reported. */
export const Reported = z.object({
  /** Beginning of its first one, milliseconds since the epoch. */
  from: z.number(),
  marks: Marks,
  /** The latest occurrence that was about to be posted. Its marks count once it was. */
  posting: z.object({ scheduledAt: z.number(), at: z.number(), marks: Marks }).optional(),
});
export interface Reported extends z.infer<typeof Reported> {}
export type Posting = NonNullable<Reported['posting']>;

/** The marks after an occurrence was posted. Safe to repeat. Pure. */
export function withPosted({ posting, ...reported }: Reported, scheduledAt: number): Reported {
  if (posting?.scheduledAt !== scheduledAt) return { ...reported, posting };
  return { ...reported, marks: { ...reported.marks, ...posting.marks } };
}

/** Notes what an occurrence is about to report, unless an earlier attempt did. Pure. */
export function withPosting(reported: Reported, posting: Posting): Reported {
  return reported.posting?.scheduledAt === posting.scheduledAt ? reported : { ...reported, posting };
}
