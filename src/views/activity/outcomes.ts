/** How a deployment ended. A running one, and any other event, has no outcome. */
export type Outcome = 'succeeded' | 'failed' | 'cancelled';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  deploy_completed: 'succeeded',
  deploy_failed: 'failed',
  deploy_cancelled: 'cancelled',
  deploy_canceled: 'cancelled',
  deploy_aborted: 'cancelled',
};

/** API 6 (docs/service-api.md) names two types of event and gives no complete list; these are met too. */
const ICONS: Readonly<Record<string, string>> = {
  deploy_completed: ':white_check_mark:',
  deploy_failed: ':x:',
  deploy_cancelled: ':no_entry_sign:',
  deploy_canceled: ':no_entry_sign:',
  deploy_aborted: ':no_entry_sign:',
  deploy_started: ':arrow_forward:',
  deploy_running: ':arrows_counterclockwise:',
  deploy_pending: ':hourglass_flowing_sand:',
  deploy_queued: ':hourglass_flowing_sand:',
  project_created: ':new:',
  server_created: ':new:',
};

export function outcomeOf(event: string): Outcome | undefined {
  return Object.hasOwn(OUTCOMES, event) ? OUTCOMES[event] : undefined;
}

/** True for a failed deployment, and for whatever else the service calls failed. */
export function isFailure(event: string): boolean {
  return event.endsWith('_failed');
}

export function outcomeIcon(event: string): string {
  return (Object.hasOwn(ICONS, event) ? ICONS[event] : undefined) ?? ':small_blue_diamond:';
}
