import type { Standing, Watch, WatchedProject, WatchedServer } from '../../records/watches.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { isFailure, outcomeOf } from '../../views/activity/chart.ts';
import type { WatchNews } from '../../views/watches/news.ts';
import { projectKey } from './feed-cursor.ts';

/** More projects than an account has; those longest without a deployment are dropped first. */
const MAX_PROJECTS = 500;

/** Whether each project fails after the events, and which events changed that. Oldest first. Pure. */
export function follow(
  standing: Standing,
  events: readonly ActivityEvent[],
): { standing: Standing; turns: Map<ActivityEvent, WatchNews['turn']> } {
  const next = new Map(Object.entries(standing));
  const turns = new Map<ActivityEvent, WatchNews['turn']>();
  for (const event of events) {
    const isFailing = isFailure(event.event);
    if (!isFailing && outcomeOf(event.event) !== 'succeeded') continue;
    const key = projectKey(event);
    const at = Date.parse(event.created_at);
    const before = next.get(key);
    // It came late: a newer event has decided already.
    if (before !== undefined && before.at > at) continue;
    if (isFailing !== (before?.isFailing ?? false))
      turns.set(event, isFailing ? 'started failing' : 'recovered');
    next.set(key, { isFailing, at });
  }
  const kept = [...next].toSorted(([, one], [, other]) => other.at - one.at).slice(0, MAX_PROJECTS);
  return { standing: Object.fromEntries(kept), turns };
}

/** The events that some watch asks for, each once, with the change that a watch for transitions posts. Pure. */
export function select(
  watches: readonly Watch[],
  events: readonly ActivityEvent[],
  turns: ReadonlyMap<ActivityEvent, WatchNews['turn']>,
): { news: WatchNews[]; for: Watch[] } {
  const fitting = new Set<Watch>();
  const news = events.flatMap((event): WatchNews[] => {
    const turn = turns.get(event);
    const mine = watches.filter((watch) => isFor(watch, event, turn));
    for (const watch of mine) fitting.add(watch);
    if (mine.length === 0) return [];
    return [{ event, turn: mine.some(({ mode }) => mode === 'transitions') ? turn : undefined }];
  });
  return { news, for: [...fitting] };
}

function isFor({ mode, project, server }: Watch, event: ActivityEvent, turn: WatchNews['turn']): boolean {
  if (project !== undefined && !isOf(project, event)) return false;
  if (server !== undefined && !isOn(server, event)) return false;
  switch (mode) {
    case 'all':
      return true;
    case 'failures':
      return isFailure(event.event);
    case 'transitions':
      return turn !== undefined;
  }
}

/** A project that the service lists without an identifier has its permalink in that place; events may have both. */
function isOf({ identifier, permalink }: WatchedProject, { project }: ActivityEvent): boolean {
  if (project === null) return false;
  if (project.identifier === identifier) return true;
  const isNamedOnly = identifier === permalink || project.identifier === '';
  return isNamedOnly && project.permalink === permalink;
}

function isOn({ identifier, name }: WatchedServer, { properties }: ActivityEvent): boolean {
  const wanted = [identifier.toLowerCase(), name.toLowerCase()];
  return properties.servers.some((server) => wanted.includes(server.toLowerCase()));
}
