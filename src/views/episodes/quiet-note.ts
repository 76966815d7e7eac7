import { dateTime } from '../../core/mrkdwn.ts';

/** A line below a failure whose channel is quiet about it; mrkdwn. */
export function quietNote({ until, requestedBy }: { until: number; requestedBy: string }): string {
  return `:no_bell: Quiet here until ${dateTime(until)}, by <@${requestedBy}>`;
}
