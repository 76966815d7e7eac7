import { changeRecord, type Fields, isFields } from './change-record.ts';
import type { Sky } from './sky.ts';

/** Spec 8. */
const MAX_EVENTS = 100;

/** Types beside the two that the specification names; the last is one that no document has. */
const TYPES = [
  'deploy_started',
  'deploy_running',
  'deploy_pending',
  'deploy_queued',
  'deploy_cancelled',
  'deploy_aborted',
  'config_file_rotated',
] as const;

/** A feed with or without its statistics. Their order and their limit are the specification's. */
export function changeActivity(sky: Sky, body: unknown): unknown {
  if (Array.isArray(body)) return changeEvents(sky, body);
  if (!isFields(body) || !isFields(body.stats)) return body;
  const events = Array.isArray(body.events) ? body.events : [];
  const hidden = sky.happens('statistics', 'hidden failures') ? hideFailures(sky, events) : events;
  return {
    ...body,
    events: changeEvents(sky, hidden),
    stats: changeRecord(sky, 'statistics', body.stats, 'statistics'),
  };
}

/** So much else happened since that most failures are no longer among the latest 100. */
function hideFailures(sky: Sky, events: unknown[]): unknown[] {
  const failures = events.flatMap((event, index) =>
    isFields(event) && event.event === 'deploy_failed' ? [index] : [],
  );
  const kept = Math.floor(sky.fraction('kept failures') * 3);
  const firstHidden = failures[kept];
  const newest = events[0];
  if (firstHidden === undefined || !isFields(newest)) return events;
  const busy = Array.from({ length: MAX_EVENTS - firstHidden }, (_, n) => unknownEvent(sky, newest, n));
  return [...busy, ...events].slice(0, MAX_EVENTS);
}

function changeEvents(sky: Sky, events: unknown[]): unknown[] {
  const changed = events.filter(isFields).flatMap((event): unknown[] => {
    const key = sky.ordinal('event', JSON.stringify(event));
    const more = sky.happens('events', key) ? [unknownEvent(sky, event, Number(key))] : [];
    return [...more, event].map((one) => changeEvent(sky, one, key));
  });
  if (sky.wild && sky.happens('odd_rows', 'events'))
    changed.splice(1, 0, sky.pick([null, 'gone', 42], 'odd event'));
  return changed.slice(0, MAX_EVENTS);
}

/** Something that happened at the same moment, of a type that the specification does not name. */
function unknownEvent(sky: Sky, event: Fields, n: number): Fields {
  return { ...event, event: sky.pick(TYPES, 'event type', String(n)), properties: {} };
}

function changeEvent(sky: Sky, event: Fields, key: string): Fields {
  const properties = isFields(event.properties) ? event.properties : {};
  const { servers } = properties;
  const asText = sky.wild && Array.isArray(servers) && sky.happens('types', 'servers', key);
  const changed = asText ? { ...properties, servers: servers.join(', ') } : properties;
  return {
    ...changeRecord(sky, 'event', event, key),
    properties: changeRecord(sky, 'event_properties', changed, key),
  };
}
