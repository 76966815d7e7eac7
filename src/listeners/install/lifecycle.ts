import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { installationLock } from '../../slack/installations.ts';
import type { EventBody, EventHandlers } from '../events.ts';
import { eraseWorkspace } from './erase.ts';

const RevokedTokens = z.object({ tokens: z.object({ bot: z.array(z.string()).nullish() }) });
const Teams = z.object({ team_ids: z.array(z.string()) });

/** What was going on in a replica while the workspace was erased may still write for this long. */
const AFTERMATH_MS = 2_000;

/**
 * What becomes of an installation. Slack sends these in any order, again, and late, also after a new install: whatever
 * happened before the standing installation is not about it.
 */
export const LIFECYCLE_HANDLERS: EventHandlers = {
  app_uninstalled: uninstalled,
  async tokens_revoked(deckhand, workspace, body) {
    const { tokens } = RevokedTokens.parse(body.event);
    // Persons' tokens are not ours, and of several bot tokens an older one may have gone.
    if (!tokens.bot?.length) return;
    const isRotating = (await deckhand.installations.about(workspace))?.isRotating === true;
    if (isRotating && (await isTokenGood(deckhand, workspace))) return;
    await uninstalled(deckhand, workspace, body);
  },
  team_access_granted: (deckhand, workspace, body) => noteTeams(deckhand, workspace, body, true),
  team_access_revoked: (deckhand, workspace, body) => noteTeams(deckhand, workspace, body, false),
};

async function uninstalled(deckhand: Deckhand, workspace: string, body: EventBody): Promise<void> {
  if (!(await eraseUnless(deckhand, workspace, (installedAt) => installedAt > happenedAt(body)))) return;
  deckhand.log.info({ event: 'uninstalled', workspace }, 'everything of a workspace was erased');
  await deckhand.clock.sleep(AFTERMATH_MS);
  await eraseUnless(deckhand, workspace, () => true);
}

/** Erases the workspace, unless an installation stands that `isSpared`; false if so. */
async function eraseUnless(
  deckhand: Deckhand,
  workspace: string,
  isSpared: (installedAt: number) => boolean,
): Promise<boolean> {
  return deckhand.store.exclusive(installationLock(workspace), async () => {
    if (await isStanding(deckhand, workspace, isSpared)) return false;
    await eraseWorkspace(deckhand, workspace);
    return true;
  });
}

/** A token of the environment has no time of its own: whether it still works is the only sign. */
async function isStanding(
  deckhand: Deckhand,
  workspace: string,
  isSpared: (installedAt: number) => boolean,
): Promise<boolean> {
  const { installations } = deckhand;
  if (installations.byOauth === undefined) return isTokenGood(deckhand, workspace);
  const installation = await installations.about(workspace);
  return installation !== undefined && isSpared(installation.installedAt);
}

async function isTokenGood(deckhand: Deckhand, workspace: string): Promise<boolean> {
  try {
    await deckhand.slack.call(workspace, 'auth.test', (client) => client.auth.test());
    return true;
  } catch (error) {
    if (isSlackFailure(error, 'revoked')) return false;
    throw error;
  }
}

/** An organisation gives or takes a workspace of its own. Its records stay: they belong to the organisation. */
async function noteTeams(
  { installations, audit }: Deckhand,
  workspace: string,
  body: EventBody,
  isGranted: boolean,
): Promise<void> {
  const { team_ids: teams } = Teams.parse(body.event);
  const isNews = await installations.byOauth?.noteTeams(workspace, teams, isGranted, happenedAt(body));
  if (!isNews) return;
  const what = isGranted ? 'team access granted' : 'team access revoked';
  for (const target of teams) await audit.record(workspace, { who: 'Slack', what, target, result: 'done' });
}

/** Milliseconds since the epoch. Where only the second is known, its end: what came in it came after the install. */
function happenedAt({ event, event_time: seconds }: EventBody): number {
  const precise = typeof event.event_ts === 'string' ? Number(event.event_ts) : Number.NaN;
  const isPrecise = Math.floor(precise) === seconds && !Number.isInteger(precise);
  return isPrecise ? Math.floor(precise * 1000) : seconds * 1000 + 999;
}
