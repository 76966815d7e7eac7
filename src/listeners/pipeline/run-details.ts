import type { EntityPresentDetailsArguments } from '@slack/web-api';
import { z } from 'zod';
import { createContext } from '../../commands/resolve-target.ts';
import { detailsOf } from '../../commands/unfurls/details.ts';
import { type EventBody, Id, MaybeId } from '../../core/event.ts';
import type { Audited, Caller } from '../../core/reply.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { carryOut } from './pipeline.ts';

const DetailsRequested = z.object({
  user: Id,
  trigger_id: z.string().min(1),
  entity_url: z.string(),
  channel: MaybeId,
});

/** What the pane shows, or why it shows nothing. */
type Pane = Audited & Pick<EntityPresentDetailsArguments, 'metadata' | 'error'>;

/** Fills the pane of a project's work object for the person who opened it. */
export async function showDetails(workspace: Workspace, { event_id, event }: EventBody): Promise<void> {
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
