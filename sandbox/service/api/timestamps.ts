import { z } from '@hono/zod-openapi';

/** ISO 8601 in UTC. Spec 1. */
export const Timestamp = z.iso.datetime();

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
