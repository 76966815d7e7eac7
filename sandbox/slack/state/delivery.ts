import type { Json } from './types.ts';

/** How a delivery ended; all but `ok` are what the person or Slack's retries see. */
export type DeliveryOutcome =
  | 'ok'
  | 'operation_timeout'
  | 'dispatch_failed'
  | 'http_client_error'
  | 'http_service_error';

export type DeliveryKind =
  | 'command'
  | 'block_actions'
  | 'view_submission'
  | 'view_closed'
  | 'block_suggestion'
  | 'shortcut'
  | 'message_action'
  | 'event'
  | 'url_verification'
  | 'ssl_check';

/** One request to the app and what came of it. */
export interface Delivery {
  id: string;
  /** Milliseconds since the epoch, by the wall clock. */
  at: number;
  kind: DeliveryKind;
  /** The command, action_id, callback_id or event type. */
  name: string;
  team: string;
  user?: string;
  payload: Json;
  /** 0 until an answer came. */
  status: number;
  body: string;
  ackMs: number;
  outcome: DeliveryOutcome | 'pending';
  /** 1 for the first, up to 4. */
  attempt: number;
  retryReason?: string;
  /** Socket Mode: the connections it went over, more than one where they ended before the ack. */
  connections?: string[];
  /** The app asked for no retries (`X-Slack-No-Retry`). */
  noRetry?: boolean;
}
