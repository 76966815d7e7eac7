import { channel } from 'node:diagnostics_channel';

/** A message or view as an app sent it, with the limits of Block Kit that it breaks. */
export interface Sent {
  kind: 'message' | 'modal' | 'home';
  content: object;
  faults: readonly string[];
}

/** Carries a `Sent` for each message and view that reaches a local Slack of this process. */
export const SENT = channel('local-slack:sent');

export function tellSent(sent: Sent): void {
  SENT.publish(sent);
}
