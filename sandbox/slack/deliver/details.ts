import type { Delivery } from '../state/delivery.ts';
import { findMessage } from '../state/messages.ts';
import { issueTrigger } from '../state/triggers.ts';
import type { Json } from '../state/types.ts';
import { channelOf } from '../state/workspaces.ts';
import type { World } from '../world.ts';
import { sendEvent } from './events.ts';
import type { Someone } from './shared.ts';

/**
 * A click on a work object: its pane opens with what the card says, and the app is asked for more.
 * @throws RangeError where the message has no such work object
 */
export function openDetails(
  world: World,
  { workspace, person }: Someone,
  on: { channel: string; ts: string },
  url?: string,
): Promise<Delivery | undefined> {
  const channel = channelOf(workspace, on.channel);
  const record = findMessage(workspace, channel.id, on.ts)?.record;
  const entity = (record?.attachments ?? [])
    .flatMap(({ work_object_entity: one }) => (one ? [one as Json] : []))
    .find((one) => url === undefined || one.app_unfurl_url === url);
  if (!record || !entity) throw new RangeError(`there is no work object under ${on.ts}`);
  workspace.panes.set(person.id, { channel: channel.id, ts: on.ts, entity });
  world.changes.emit({ type: 'pane', team: workspace.id, user: person.id });
  const link = String(entity.app_unfurl_url);
  const externalRef = entity.external_ref as { id: string };
  return sendEvent(world, workspace, {
    type: 'entity_details_requested',
    user: person.id,
    external_ref: externalRef,
    entity_url: entity.url,
    link: { url: link, domain: new URL(link).hostname },
    app_unfurl_url: link,
    trigger_id: issueTrigger(world, { teamId: workspace.id, userId: person.id, entityId: externalRef.id }),
    user_locale: 'en-US',
    channel: channel.id,
    message_ts: on.ts,
    ...(record.thread_ts ? { thread_ts: record.thread_ts } : {}),
  });
}
