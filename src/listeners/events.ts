import { EventBody } from '../core/event.ts';
import type { SpanStart } from '../observability/tracing.ts';
import { GLOBAL } from '../store/store.ts';
import type { StoredEvent } from './durable-requests.ts';
import { workspaceOf } from './payloads/payloads.ts';

/**
 * What is about the installation itself. It is stored apart from the workspace's own records, which it may erase along
 * with the memory that it has come.
 */
export const LIFECYCLE_EVENTS: readonly string[] = [
  'app_uninstalled',
  'tokens_revoked',
  'team_access_granted',
  'team_access_revoked',
];

/** An event as it is stored, and under which workspace; undefined where it has no handler. */
export function readEvent(
  raw: unknown,
  handlers: Readonly<Record<string, unknown>>,
): { keeper: string; event: StoredEvent } | undefined {
  const { data: body } = EventBody.safeParse(raw);
  if (body === undefined || !Object.hasOwn(handlers, body.event.type)) return undefined;
  const source = body.authorizations?.[0] ?? body;
  const about = workspaceOf(source.enterprise_id, source.team_id, source.is_enterprise_install === true);
  const keeper = LIFECYCLE_EVENTS.includes(body.event.type) ? GLOBAL : about;
  return { keeper, event: { about, body: withoutSecrets(body) } };
}

/** Jobs are stored as they are, so no token goes with them: neither Slack's old one nor that of a workflow step. */
function withoutSecrets({ token: _, event, ...body }: EventBody): EventBody {
  const { bot_access_token: __, ...rest } = event;
  return { ...body, event: rest };
}

/** What Slack calls the payloads that it sends. */
const PAYLOADS: ReadonlySet<unknown> = new Set([
  'block_actions',
  'block_suggestion',
  'message_action',
  'shortcut',
  'view_closed',
  'view_submission',
]);

/** The span of a payload of Slack, up to its ack; begins a trace. An event counts by its type, if it has a handler. */
export function payloadSpan(
  body: Record<string, unknown>,
  handlers: Readonly<Record<string, unknown>>,
): SpanStart {
  return { name: payloadName(body, handlers), kind: 'server', parent: null };
}

function payloadName(
  { command, type, event }: Record<string, unknown>,
  handlers: Readonly<Record<string, unknown>>,
): string {
  if (type === undefined && command !== undefined) return 'slash_command';
  if (typeof type === 'string' && PAYLOADS.has(type)) return type;
  const kind = typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : '';
  return type === 'event_callback' && Object.hasOwn(handlers, kind) ? kind : 'other';
}
