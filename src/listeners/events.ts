import type { EntityPresentDetailsArguments } from '@slack/web-api';
import { z } from 'zod';
import { detailsOf } from '../commands/unfurls/unfurl.ts';
import type { Audited, Caller } from '../core/message.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import { SEEN_MS } from './inbox.ts';
import { readEvent } from './payloads/payloads.ts';
import { type EventBody, Id, MaybeId } from './payloads/schemas.ts';
import { carryOut, createContext } from './pipeline/pipeline.ts';

/**
 * Events that are answered by a handle in them, a secret that expires within seconds: they are stored nowhere, are carried
 * out after their ack, and end with the process.
 */
export const LIVE_EVENTS = { entity_details_requested: showDetails } as const;

interface LiveParts {
  workspaces: Workspaces;
  background: BackgroundWork;
}

/** False for any other payload. */
export function beginLiveEvent({ workspaces, background }: LiveParts, raw: unknown): boolean {
  const known = readEvent(raw, LIVE_EVENTS);
  if (known === undefined) return false;
  const { about, body } = known.event;
  background.begin(async () => {
    try {
      const workspace = await workspaces.admit(about);
      if (await workspace.once(['event', body.event_id], SEEN_MS)) await showDetails(workspace, body);
    } catch (error) {
      // Its handle cannot be answered by a token that is not of that installation.
      if (!(error instanceof NotServed)) throw error;
    }
  });
  return true;
}

const DetailsRequested = z.object({
  user: Id,
  trigger_id: z.string().min(1),
  entity_url: z.string(),
  channel: MaybeId,
});

/** What the pane shows, or why it shows nothing. */
type Pane = Audited & Pick<EntityPresentDetailsArguments, 'metadata' | 'error'>;

/** Fills the pane of a project's work object for the person who opened it. */
async function showDetails(workspace: Workspace, { event_id, event }: EventBody): Promise<void> {
  const { data: asked } = DetailsRequested.safeParse(event);
  if (asked === undefined) return;
  const { user, channel, trigger_id, entity_url } = asked;
  const caller: Caller = { user, channel, requestId: event_id };
  const context = createContext(workspace, caller);
  const pane = await carryOut<Pane>({
    kind: 'details',
    workspace,
    caller,
    command: 'projects',
    what: 'details',
    role: 'member',
    run: async () => ({ metadata: await detailsOf(context, entity_url) }),
    explain: async (error) => ({
      error: {
        status: 'custom',
        custom_title: 'Nothing to show',
        custom_message: failureWords(context.explain(error, { job: 'work_object' })),
        message_format: 'markdown',
      },
    }),
  });
  try {
    await workspace.slack.call('entity.presentDetails', { trigger_id, ...pane });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    context.explain(error, { job: 'work_object' });
  }
}
