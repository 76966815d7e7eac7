import type { Delivery } from '../state/delivery.ts';
import { newId, secretHex } from '../state/ids.ts';
import type { Json, Workspace } from '../state/types.ts';
import { inBackground, type World } from '../world.ts';
import { deliver } from './delivery.ts';

/** After a failed event Slack tries again at once, after a minute and after five more. */
const RETRY_AFTER_MS = [0, 60_000, 300_000];

export interface SlackEvent extends Json {
  type: string;
}

/**
 * Delivers an event where the app subscribed to it. Resolves with the first attempt, or undefined where nothing was
 * sent; retries go on in the background, by the movable clock.
 */
export async function sendEvent(
  world: World,
  workspace: Workspace,
  event: SlackEvent,
  options: { installation?: Workspace['installation']; isExternal?: boolean } = {},
): Promise<Delivery | undefined> {
  const installation = options.installation ?? workspace.installation;
  const { events } = world.app;
  if (!installation || (events && !events.includes(subscriptionName(event)))) return undefined;
  const dated = { event_ts: world.time.nextTs(), ...event };
  const payload = {
    ...eventPayload(world, workspace, dated, installation),
    is_ext_shared_channel: options.isExternal ?? false,
  };
  const first = await attempt(world, workspace, payload, 1);
  if (shouldRetry(first)) inBackground(world, retry(world, workspace, payload, first));
  return first;
}

/** Message events are subscribed to by kind of conversation: `message.channels`, `message.groups`, `message.im`. */
function subscriptionName(event: SlackEvent): string {
  if (event.type !== 'message') return event.type;
  return event.channel_type === 'im' ? 'message.im' : `message.${String(event.channel_type)}s`;
}

function eventPayload(
  world: World,
  workspace: Workspace,
  event: SlackEvent,
  installation: NonNullable<Workspace['installation']>,
): Json {
  const org = installation.enterpriseId;
  return {
    token: world.app.verificationToken,
    team_id: workspace.id,
    ...(workspace.enterprise ? { enterprise_id: workspace.enterprise.id } : {}),
    context_team_id: workspace.id,
    context_enterprise_id: workspace.enterprise?.id ?? null,
    api_app_id: world.app.appId,
    event,
    type: 'event_callback',
    event_id: newId('Ev'),
    event_time: Math.floor(world.time.wall() / 1000),
    event_context: `4-${secretHex(16)}`,
    authorizations: [
      {
        enterprise_id: workspace.enterprise?.id ?? null,
        team_id: org ? null : workspace.id,
        user_id: installation.botUserId,
        is_bot: true,
        is_enterprise_install: org !== undefined,
      },
    ],
  };
}

async function retry(world: World, workspace: Workspace, payload: Json, failed: Delivery): Promise<void> {
  let last = failed;
  for (const [index, wait] of RETRY_AFTER_MS.entries()) {
    const stopped = await world.time
      .waitUntil(world.time.now() + wait, world.stopping.signal)
      .then(() => false)
      .catch(() => true);
    if (stopped) return;
    last = await attempt(world, workspace, payload, index + 2, reasonOf(last));
    if (!shouldRetry(last)) return;
  }
}

function attempt(
  world: World,
  workspace: Workspace,
  payload: Json,
  number: number,
  retryReason?: string,
): Promise<Delivery> {
  const { type } = payload.event as SlackEvent;
  return deliver(world, {
    kind: 'event',
    name: type,
    team: workspace.id,
    payload,
    as: 'json',
    attempt: number,
    ...(retryReason ? { retryReason } : {}),
  });
}

function shouldRetry(delivery: Delivery): boolean {
  return delivery.outcome !== 'ok' && !delivery.noRetry;
}

function reasonOf({ outcome, status }: Delivery): string {
  if (outcome === 'operation_timeout') return 'http_timeout';
  return status === 0 ? 'connection_failed' : 'http_error';
}
