import { findProject } from './find.ts';
import type { Integration } from './project-records.ts';
import type { Account, ActivityEvent, Notification, World } from './records.ts';

const TIMEOUT_MS = 10_000;

/** The flag that an event of the feed belongs to. Spec 6.2. */
const FLAGS: Readonly<Record<string, 'sendOnStart' | 'sendOnCompletion' | 'sendOnFailure'>> = {
  deploy_started: 'sendOnStart',
  deploy_completed: 'sendOnCompletion',
  deploy_failed: 'sendOnFailure',
};

/** Calls the `http_req` integrations of the event's project. Addresses of other machines are only noted. Spec 4.8, 6.2. */
export function notifyIntegrations(world: World, account: Account, event: ActivityEvent): void {
  const flag = FLAGS[event.event];
  const project = findProject(account, event.project);
  if (flag === undefined || project === undefined) return;
  for (const integration of project.integrations)
    if (integration.hookType === 'http_req' && integration.active && integration[flag])
      notify(world, integration, event);
}

function notify({ notifications }: World, { properties }: Integration, event: ActivityEvent): void {
  const { url = '' } = properties;
  const notification: Notification = { url, event: event.event, status: undefined };
  notifications.push(notification);
  if (!isLocal(url)) return;
  const body = JSON.stringify({ event: event.event, properties: event.properties, user: event.user });
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
    (answer) => {
      notification.status = answer.status;
    },
    // Nothing answered.
    () => undefined,
  );
}

function isLocal(url: string): boolean {
  const { hostname = '' } = URL.parse(url) ?? {};
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
