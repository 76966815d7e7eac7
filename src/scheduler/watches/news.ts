import { type Mentions, nameKey } from '../../records/service-people.ts';
import type { Failing, Watch, WatchedProject, WatchedServer } from '../../records/watches.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { isFailure, outcomeOf } from '../../views/activity/chart.ts';
import { projectKey } from './feed-cursor.ts';

/** The service may report one failed deployment twice, moments apart. */
const TWIN_MS = 10_000;

/** An event that belongs to an episode, and the watches that follow it. */
export interface FoundOutcome {
  event: ActivityEvent;
  kind: 'failure' | 'success';
  for: Watch[];
}

/**
 * The new failures of a page, and the successes that ended one, oldest first, with what fails after them. A failure that
 * comes late, after a success that was seen already, finds that success in the page. Pure.
 * @param page as the service lists it, the latest first
 * @param watchesOf those that follow what failed, or what would end a failure
 */
export function followOutcomes(
  before: Failing,
  page: readonly ActivityEvent[],
  fresh: ReadonlySet<ActivityEvent>,
  watchesOf: (event: ActivityEvent, kind: FoundOutcome['kind']) => Watch[],
): { failing: Failing; found: FoundOutcome[] } {
  if (fresh.size === 0) return { failing: before, found: [] };
  const failing = new Map(Object.entries(before));
  const found: FoundOutcome[] = [];
  const ordered = page.toReversed().toSorted((one, other) => timeOf(one) - timeOf(other));
  const twins = twinsIn(ordered);
  for (const event of ordered) {
    const key = projectKey(event);
    const failedAt = failing.get(key);
    const isNew = fresh.has(event) && !twins.has(event);
    const kind = kindOf(event, { isNew, failedAt });
    const watches = kind === undefined ? [] : watchesOf(event, kind);
    if (kind === undefined || watches.length === 0) continue;
    found.push({ event, kind, for: watches });
    if (kind === 'success') failing.delete(key);
    else failing.set(key, Math.max(timeOf(event), failedAt ?? 0));
  }
  return { failing: Object.fromEntries(failing), found };
}

/** Undefined where it neither fails nor ends a failure. */
function kindOf(
  event: ActivityEvent,
  { isNew, failedAt }: { isNew: boolean; failedAt: number | undefined },
): FoundOutcome['kind'] | undefined {
  if (isFailure(event.event)) return isNew ? 'failure' : undefined;
  const isEnd = outcomeOf(event.event) === 'succeeded' && failedAt !== undefined && timeOf(event) >= failedAt;
  return isEnd ? 'success' : undefined;
}

/** The failures that another one tells already. @param events oldest first */
function twinsIn(events: readonly ActivityEvent[]): Set<ActivityEvent> {
  const latest = new Map<string, number>();
  return new Set(
    events.filter((event) => {
      if (!isFailure(event.event)) return false;
      const { end_ref, servers } = event.properties;
      const deployment = JSON.stringify([projectKey(event), end_ref, servers]);
      const before = latest.get(deployment);
      latest.set(deployment, timeOf(event));
      return before !== undefined && timeOf(event) - before <= TWIN_MS;
    }),
  );
}

function timeOf({ created_at }: ActivityEvent): number {
  return Date.parse(created_at);
}

/** True for an event of the project, server and person that the watch follows. Pure. */
export function isFollowed(
  { project, server, person }: Watch,
  event: ActivityEvent,
  mentions: Mentions,
): boolean {
  if (person !== undefined && mentions.get(nameKey(event.user ?? '')) !== person) return false;
  return isPlaced({ project, server }, event);
}

/** The same, whoever did it: a failure of one's own may be ended by another person. Pure. */
export function isPlaced(
  { project, server }: Pick<Watch, 'project' | 'server'>,
  event: ActivityEvent,
): boolean {
  if (project !== undefined && !isOf(project, event)) return false;
  return server === undefined || isOn(server, event);
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
