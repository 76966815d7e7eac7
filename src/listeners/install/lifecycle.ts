import { z } from 'zod';
import type { EventHandlers, SlackEvent } from '../../commands/command.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { installationLock } from '../../workspace/installations.ts';
import type { Uninstalls } from '../../workspace/uninstalls.ts';
import type { Parts, Workspace } from '../../workspace/workspace.ts';

interface LifecycleParts extends Pick<Parts, 'clock' | 'installations' | 'store'> {
  uninstalls: Uninstalls;
}

const RevokedTokens = z.object({ tokens: z.object({ bot: z.array(z.string()).nullish() }) });
const Teams = z.object({ team_ids: z.array(z.string()) });

/**
 * The life of an installation. Slack sends these events in any order, repeatedly and late, also after a new install: what
 * happened before the current installation is not about it.
 */
export function lifecycleHandlers(parts: LifecycleParts): EventHandlers {
  const startedAt = parts.clock.now();
  return {
    async app_uninstalled({ workspace }, body) {
      // The install of a token of the environment is older than the start; how old is not known.
      const mayBeBefore = parts.installations.byOauth === undefined && happenedAt(body) < startedAt;
      if (mayBeBefore && (await isTokenGood(workspace))) return;
      await uninstalled(parts, workspace, body);
    },
    async tokens_revoked({ workspace }, body) {
      const { tokens } = RevokedTokens.parse(body.event);
      // Tokens of persons are not ours, and of several bot tokens an older one may have been revoked.
      if (!tokens.bot?.length) return;
      const { byOauth, about } = parts.installations;
      const mayBeOther = byOauth === undefined || (await about(workspace.id))?.isRotating === true;
      if (mayBeOther && (await isTokenGood(workspace))) return;
      await uninstalled(parts, workspace, body);
    },
    team_access_granted: ({ workspace }, body) => noteTeams(parts, workspace, body, true),
    team_access_revoked: ({ workspace }, body) => noteTeams(parts, workspace, body, false),
  };
}

/** Erases the workspace, unless it was installed again since. A token of the environment has no record of its install. */
async function uninstalled(parts: LifecycleParts, { id, log }: Workspace, body: SlackEvent): Promise<void> {
  const isErased = await parts.store.exclusive(installationLock(id), async () => {
    const installation = await parts.installations.about(id);
    if (installation !== undefined && installation.installedAt > happenedAt(body)) return false;
    await parts.uninstalls.uninstall(id);
    return true;
  });
  if (isErased) log.info({ event: 'uninstalled' }, 'everything of a workspace was erased');
}

async function isTokenGood({ slack }: Workspace): Promise<boolean> {
  return (await undefinedOnSlackError(slack.call('auth.test', {}), 'revoked')) !== undefined;
}

/** An organisation gives or takes a workspace of its own. Its records stay: they belong to the organisation. */
async function noteTeams(
  { installations }: LifecycleParts,
  { id, audit }: Workspace,
  body: SlackEvent,
  isGranted: boolean,
): Promise<void> {
  const { team_ids: teams } = Teams.parse(body.event);
  const isNews = await installations.byOauth?.noteTeams(id, teams, isGranted, happenedAt(body));
  if (!isNews) return;
  const what = isGranted ? 'team access granted' : 'team access revoked';
  for (const target of teams) await audit.record({ who: 'Slack', what, target, result: 'done' });
}

/** Milliseconds since the epoch. Where only the second is known, its end, since the event came after the install. */
function happenedAt({ event, event_time: seconds }: SlackEvent): number {
  const precise = typeof event.event_ts === 'string' ? Number(event.event_ts) : Number.NaN;
  const isPrecise = Math.floor(precise) === seconds && !Number.isInteger(precise);
  return isPrecise ? Math.floor(precise * 1000) : seconds * 1000 + 999;
}
