import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface UncertainDelivery {
  channel?: string | undefined;
  /** The delivery's id, the post's `client_msg_id`, or Slack's id of the request. */
  delivery: string | undefined;
}

interface Counting {
  log: Logger;
  metrics: Metrics;
}

/** A post is sent again although Slack may have it. Only this can double a post, so each is logged and counted. */
export function countRepeated({ log, metrics }: Counting, delivery: UncertainDelivery): void {
  metrics.uncertainDelivery();
  log.warn({ event: 'delivery_uncertain', ...delivery }, 'a post is sent again although Slack may have it');
}

/** A reply is not sent again because Slack may have it. Only this can lose a reply, so each is logged and counted. */
export function countWithheld({ log, metrics }: Counting, delivery: UncertainDelivery): void {
  metrics.uncertainReply();
  log.warn({ event: 'reply_uncertain', ...delivery }, 'a reply is not sent again because Slack may have it');
}

/** The service may have carried out a request whose answer was lost. Only this can start a run twice, so each is logged and counted. */
export function countUnanswered(
  { log, metrics }: Counting,
  request: { operation: string; [field: string]: unknown },
): void {
  metrics.uncertainRequest(request.operation);
  log.warn({ event: 'request_uncertain', ...request }, 'the answer to a request was lost');
}
