import type { SpanStart } from '../../observability/tracing.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export type Outcome = 'done' | 'refused' | 'failed';

/** What a person asked for: the command behind it, and how they asked. */
interface Asked {
  command: string;
  by: 'command' | 'action' | 'shortcut' | 'form';
  /** The registered name of a button or form. */
  what?: string | undefined;
}

/**
 * Runs what a person asked for as a span, and counts how it ended when `work` says so. Neither has anything of what
 * was typed: a command's name is the registry's.
 */
export function instrument<T>(
  { id, tracing, metrics }: Pick<Workspace, 'id' | 'tracing' | 'metrics'>,
  asked: Asked,
  work: (end: (outcome: Outcome) => void) => Promise<T>,
): Promise<T> {
  const { command, by } = asked;
  return tracing.run(spanOf(id, asked), (span) =>
    work((outcome) => {
      metrics.command(command, by, outcome);
      span.set({ 'deckhand.outcome': outcome });
      if (outcome === 'failed') span.fail(outcome);
    }),
  );
}

function spanOf(workspace: string, { command, by, what }: Asked): SpanStart {
  const attributes = () => ({
    'deckhand.command': command,
    'deckhand.what': what,
    'deckhand.workspace': workspace,
  });
  return { name: `${by} ${command}`, kind: 'internal', attributes };
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

/** The span of a payload of Slack, up to its ack; begins a trace. An event counts by its type, if it is one of ours. */
export function payloadSpan(
  body: Record<string, unknown>,
  events: Readonly<Record<string, unknown>>,
): SpanStart {
  return { name: payloadName(body, events), kind: 'server', parent: null };
}

function payloadName(
  { command, type, event }: Record<string, unknown>,
  events: Readonly<Record<string, unknown>>,
): string {
  if (type === undefined && command !== undefined) return 'slash_command';
  if (typeof type === 'string' && PAYLOADS.has(type)) return type;
  const kind = typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : '';
  return type === 'event_callback' && Object.hasOwn(events, kind) ? kind : 'other';
}
