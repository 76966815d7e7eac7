/** Something that goes wrong on demand with a Web API method. */
export interface Fault {
  /** A method's name, `*` for all, or `response_url` for answers to one. */
  method: string;
  /** Only for this workspace. */
  teamId?: string;
  /** Only for calls that name this channel by its id. */
  channel?: string;
  /** Only for thread replies, or only for what is none. */
  replies?: boolean;
  /** Answer with this HTTP status and do nothing. 429 carries `Retry-After`. */
  status?: number;
  /** Seconds for a 429, 1 by default. */
  retryAfter?: number;
  /** Answer `{ ok: false, error }` and do nothing. */
  error?: string;
  /** Wait this long first. */
  delayMs?: number;
  /** Close the connection: without doing the work, or after it, so that only the answer is lost. */
  drop?: 'before' | 'after';
  /** Do the work and answer with other values in these fields. */
  fields?: Record<string, unknown>;
  /** Do the work and answer with something that is not JSON. */
  malformed?: boolean;
  /** How often; without it until it is cleared. */
  times?: number;
}
