/** How a deployment ended. A running one, and any other event, has no outcome. */
export type Outcome = 'succeeded' | 'failed' | 'cancelled';

type Kind = readonly [icon: string, outcome?: Outcome];

const CANCELLED: Kind = [':no_entry_sign:', 'cancelled'];

/** API 6 (docs/service-api.md) names two types of event and gives no complete list; these are met too. */
const EVENTS = new Map<string, Kind>([
  ['deploy_completed', [':white_check_mark:', 'succeeded']],
  ['deploy_failed', [':x:', 'failed']],
  ['deploy_cancelled', CANCELLED],
  ['deploy_canceled', CANCELLED],
  ['deploy_aborted', CANCELLED],
  ['deploy_started', [':arrow_forward:']],
  ['deploy_running', [':arrows_counterclockwise:']],
  ['deploy_pending', [':hourglass_flowing_sand:']],
  ['deploy_queued', [':hourglass_flowing_sand:']],
  ['project_created', [':new:']],
  ['server_created', [':new:']],
]);

export function outcomeOf(event: string): Outcome | undefined {
  return EVENTS.get(event)?.[1];
}

/** True for a failed deployment, and for whatever else the service calls failed. */
export function isFailure(event: string): boolean {
  return event.endsWith('_failed');
}

export function outcomeIcon(event: string): string {
  return EVENTS.get(event)?.[0] ?? ':small_blue_diamond:';
}
