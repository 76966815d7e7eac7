import { z } from 'zod';
import { ProjectRef } from '../core/project-ref.ts';

export const Protocol = z.enum(['static_hosting', 'managed_vps']);
export type Protocol = z.infer<typeof Protocol>;

/** What is to be created, under the service's field names. */
export const Wanted = z.discriminatedUnion('protocol_type', [
  z.object({
    protocol_type: z.literal('static_hosting'),
    name: z.string(),
    subdomain: z.string(),
    spa_mode: z.boolean(),
  }),
  z.object({
    protocol_type: z.literal('managed_vps'),
    name: z.string(),
    region: z.string(),
    size: z.string(),
  }),
]);
export type Wanted = z.infer<typeof Wanted>;

/** What the modal knows on its way through form and confirmation. */
export const Draft = z.object({
  channel: z.string(),
  thread: z.string().optional(),
  account: z.string(),
  /** Absent: the form asks for it. */
  project: ProjectRef.optional(),
  /** The protocol whose fields are shown. */
  protocol: Protocol,
  /** Set once the form is filled in, for the confirmation. */
  wanted: Wanted.optional(),
  /** What it costs, in words; plain text. */
  cost: z.string().optional(),
  /** Identifies this confirmation, so that it creates one server. */
  order: z.string().optional(),
});
export type Draft = z.infer<typeof Draft>;
