import type { EntityPresentDetailsArguments } from '@slack/web-api';
import { z } from 'zod';
import { createContext } from '../commands/resolve-target.ts';
import { detailsOf } from '../commands/unfurls/unfurl.ts';
import type { Audited, Caller } from '../core/reply.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import { isFirst } from './inbox.ts';
import { readEvent } from './payloads/payloads.ts';
import { type EventBody, Id, MaybeId } from './payloads/schemas.ts';
import { carryOut } from './pipeline/pipeline.ts';

/**
 * Events that are answered by a handle in them, a secret that expires within seconds: they are stored nowhere, are carried
 * out after their ack, and end with the process.
 */
export const LIVE_EVENTS: Readonly<Record<string, (workspace: Workspace, body: EventBody) => Promise<void>>> =
  {
    entity_details_requested: showDetails,
  };

export function createLiveEvents({
  workspaces,
  background,
}: {
  workspaces: Workspaces;
  background: BackgroundWork;
}) {
  return {
    /** False for any other payload. */
    begin(raw: unknown): boolean {
      const known = readEvent(raw, LIVE_EVENTS);
      if (known === undefined) return false;
      const { about, body } = known.event;
      background.begin(async () => {
        const workspace = await admitted(workspaces, about);
        if (workspace === undefined) return;
        if (await isFirst(workspace, body.event_id)) await LIVE_EVENTS[body.event.type]?.(workspace, body);
      });
      return true;
    },
  };
}

/** Its handle cannot be answered by a token that is not of that installation. */
async function admitted(workspaces: Workspaces, about: string): Promise<Workspace | undefined> {
  try {
    return await workspaces.admit(about);
  } catch (error) {
    if (error instanceof NotServed) return undefined;
    throw error;
  }
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
      error: errorOf(failureWords(context.explain(error, { job: 'work_object' }))),
    }),
  });
  try {
    await workspace.slack.call('entity.presentDetails', { trigger_id, ...pane });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    context.explain(error, { job: 'work_object' });
  }
}

function errorOf(sentence: string): NonNullable<Pane['error']> {
  return {
    status: 'custom',
    custom_title: 'Nothing to show',
    custom_message: sentence,
    message_format: 'markdown',
  };
}
