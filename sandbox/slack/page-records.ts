import type { Someone } from './deliver/shared.ts';
import type { Delivery } from './state/delivery.ts';
import type { Channel } from './state/people.ts';
import { findSeated } from './state/sharing.ts';
import type { Json, StoredMessage, Workspace } from './state/types.ts';
import { stackOf, viewRecord } from './state/views.ts';
import { personOf, workspaceOf } from './state/workspaces.ts';
import type { ApiCall, World } from './world.ts';

/** The workspace's records in the page's words, and who of it looks at them. */

export function teamForPage(world: World, workspace: Workspace): Json {
  const { app } = world;
  const bot = workspace.installation?.botUserId;
  return {
    id: workspace.id,
    name: workspace.name,
    domain: workspace.domain,
    users: [
      ...[...workspace.people.values()].filter((person) => !person.deleted),
      ...peopleMet(world, workspace),
    ],
    channels: [...workspace.channels.values()].map(channelForPage),
    apps: bot ? [appForPage(world, bot)] : [],
    samples: world.samples,
    commands: bot ? app.commands.map((command) => ({ ...command, app_id: app.appId })) : [],
  };
}

/** Who of other workspaces is in channels shared with them. */
function peopleMet(world: World, workspace: Workspace): Json[] {
  const shared = [...workspace.channels.values()].filter((channel) => channel.sharedWith.length > 0);
  const ids = new Set(shared.flatMap((channel) => [...channel.members]));
  return [...ids]
    .filter((id) => !workspace.people.has(id))
    .flatMap((id) => {
      const seated = findSeated(world, workspace, id);
      return seated ? [{ ...seated.person, team_id: seated.seat.id, elsewhere: true }] : [];
    });
}

function appForPage({ app }: World, bot: string): Json {
  return {
    id: app.appId,
    name: app.name,
    bot_user: bot,
    has_home: app.homeTab,
    reads_only: app.messagesTabReadOnly,
    shortcuts: app.shortcuts,
  };
}

function channelForPage({ members, archived, ...channel }: Channel): Json {
  return { ...channel, is_archived: archived, members: [...members] };
}

export function messageForPage({ record, ephemeralTo }: StoredMessage): Json {
  return { ...record, ...(ephemeralTo ? { ephemeral: true } : {}) };
}

export function viewsForPage(world: World, workspace: Workspace, userId: string): Json[] {
  return stackOf(workspace, userId).map((view) => viewRecord(world, workspace, view));
}

export function homeForPage(world: World, workspace: Workspace, userId: string): Json | null {
  const view = workspace.homes.get(userId);
  return view ? viewRecord(world, workspace, view) : null;
}

export function deliveryForPage(delivery: Delivery): Json {
  const { id, at, kind, name, attempt, payload, status, ackMs, outcome } = delivery;
  const isPending = outcome === 'pending';
  return {
    id,
    at,
    kind,
    name,
    attempt,
    payload,
    status: isPending || status === 0 ? null : status,
    ack_ms: isPending ? null : ackMs,
    ...(outcome === 'ok' || isPending ? {} : { error: outcome }),
  };
}

/** The switches and buttons, without what they do. */
export function controlsForPage({ controls }: World): Json[] {
  return controls.map(({ run: _run, ...control }) => control);
}

export function callForPage({ team: _team, ...call }: ApiCall): Json {
  return call;
}

/** @throws RangeError where there is no such person */
export function readActor(world: World, { team, user }: { team?: string; user?: string }): Someone {
  const workspace = workspaceOf(world, team ?? '');
  return { workspace, person: personOf(workspace, user ?? '') };
}
