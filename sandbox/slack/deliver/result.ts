import { z } from 'zod';
import type { Delivery, DeliveryOutcome } from '../state/delivery.ts';
import { SlackError } from '../web-api/errors.ts';

/**
 * How something a person did ended. Beside the delivery's own outcomes: `invalid_command`, `not_sent` (Slack itself
 * kept it back, e.g. an empty required field), `denied` (the confirm dialog), `invalid_response` (the app's answer
 * is one Slack refuses), and `errors` (the app put faults under fields).
 */
export type ActOutcome =
  | DeliveryOutcome
  | 'invalid_command'
  | 'not_sent'
  | 'denied'
  | 'invalid_response'
  | 'errors';

export interface ActResult {
  /** HTTP status of the app's answer; 0 where there was none. */
  status: number;
  body: string;
  /** Milliseconds until the app's answer. */
  ackMs: number;
  outcome: ActOutcome;
  /** What the person is shown because of it. */
  shown?: string;
  /** Faults under fields, by block_id. */
  errors?: Record<string, string>;
  delivery?: Delivery;
}

export function resultOf(delivery: Delivery): ActResult {
  const { status, body, ackMs, outcome } = delivery;
  return { status, body, ackMs, outcome: outcome === 'pending' ? 'dispatch_failed' : outcome, delivery };
}

export function notDelivered(outcome: ActOutcome, extra: Partial<ActResult> = {}): ActResult {
  return { status: 0, body: '', ackMs: 0, outcome, ...extra };
}

/** Whether an app's answer was at fault, by its form or by what it asks for. */
export function isTheirs(error: unknown): error is SlackError | SyntaxError | z.ZodError {
  return error instanceof SlackError || error instanceof SyntaxError || error instanceof z.ZodError;
}
