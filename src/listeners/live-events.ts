import type { EventBody } from '../core/event.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import type { DurableRequests } from './durable-requests.ts';
import { readEvent } from './payloads/payloads.ts';
import { showDetails } from './pipeline/run-details.ts';

/**
 * Events that are answered by a handle in them, a secret that expires within seconds: they are stored nowhere, are carried
 * out after their ack, and end with the process.
 */
export const LIVE_EVENTS: Readonly<Record<string, (workspace: Workspace, body: EventBody) => Promise<void>>> =
  {
    entity_details_requested: showDetails,
  };

export interface LiveEvents {
  /** False for any other payload. */
  begin(raw: unknown): boolean;
}

export function createLiveEvents({
  workspaces,
  background,
  requests,
}: {
  workspaces: Workspaces;
  background: BackgroundWork;
  requests: DurableRequests;
}): LiveEvents {
  return {
    begin(raw) {
      const known = readEvent(raw, LIVE_EVENTS);
      if (known === undefined) return false;
      const { about, body } = known.event;
      background.begin(about, async () => {
        const workspace = await workspaces.enter(about);
        if (await requests.isNew(workspace, body.event_id))
          await LIVE_EVENTS[body.event.type]?.(workspace, body);
      });
      return true;
    },
  };
}
