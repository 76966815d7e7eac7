import type { Json } from './types.ts';

/** One Web API call as it came in, without any secret. */
export interface ApiCall {
  id: string;
  /** Milliseconds since the epoch, by the wall clock. */
  at: number;
  method: string;
  team: string | undefined;
  args: Json;
  /** HTTP status; 0 where the connection was dropped. */
  status: number;
  ok: boolean;
  error?: string;
  ms: number;
}
