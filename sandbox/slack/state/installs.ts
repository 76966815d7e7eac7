import type { Token, World } from '../world.ts';
import { digits, newId, secretHex } from './ids.ts';
import type { Installation, Workspace } from './types.ts';
import { BOT_TO_COME } from './workspaces.ts';

/** A rotating token lives twelve hours. */
export const TOKEN_LIFE_MS = 12 * 3_600_000;

interface InstallOptions {
  scopes?: readonly string[];
  enterpriseId?: string;
}

/** Puts the app's bot into a workspace; the same bot comes back when it is installed again. */
export function installBot(world: World, workspace: Workspace, options: InstallOptions = {}): Installation {
  const earlier = workspace.installation;
  const scopes = new Set([...(earlier?.scopes ?? []), ...(options.scopes ?? world.app.botScopes)]);
  const installation: Installation = {
    botUserId: earlier?.botUserId ?? botUserIn(world, workspace) ?? newId('U'),
    botId: earlier?.botId ?? newId('B'),
    scopes: [...scopes],
    installedAt: world.time.wall(),
    ...(options.enterpriseId ? { enterpriseId: options.enterpriseId } : {}),
  };
  workspace.installation = installation;
  addBotUser(world, workspace, installation);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  return installation;
}

/** A bot that was uninstalled stays as a deleted user; an organisation has one bot in all its workspaces. */
function botUserIn(world: World, workspace: Workspace): string | undefined {
  if (workspace.botUserId || !workspace.enterprise) return workspace.botUserId;
  return [...world.workspaces.values()].find(
    (other) => other.enterprise?.id === workspace.enterprise?.id && other.installation?.enterpriseId,
  )?.installation?.botUserId;
}

function addBotUser(world: World, workspace: Workspace, { botUserId }: Installation): void {
  workspace.botUserId = botUserId;
  workspace.people.set(botUserId, {
    id: botUserId,
    name: world.app.botName,
    real_name: world.app.name,
    is_admin: false,
    is_owner: false,
    is_bot: true,
    deleted: false,
    is_restricted: false,
    is_ultra_restricted: false,
    tz: 'America/Los_Angeles',
  });
  for (const channel of workspace.channels.values()) {
    if (channel.members.delete(BOT_TO_COME) || channel.kind === 'im') channel.members.add(botUserId);
  }
}

/** The token of an installation; without rotation an active one is given again. */
export function issueBotToken(
  world: World,
  owner: { teamId?: string; enterpriseId?: string },
  scopes: string[],
): Token {
  const rotating = world.app.tokenRotation;
  const active = tokensOf(world, owner).filter((token) => token.state === 'active');
  const kept = active.find((token) => token.expiresAt === undefined);
  if (kept && !rotating) return Object.assign(kept, { scopes });
  const prefix = rotating ? `xoxe.xoxb-1-` : `xoxb-${digits(12)}-${digits(13)}-`;
  const token: Token = {
    token: prefix + secretHex(rotating ? 40 : 12),
    kind: 'bot',
    ...owner,
    scopes,
    state: 'active',
    ...(rotating
      ? { expiresAt: world.time.now() + TOKEN_LIFE_MS, refreshToken: `xoxe-1-${secretHex(40)}` }
      : {}),
  };
  world.tokens.set(token.token, token);
  return token;
}

/** Whose a token is. */
export function ownerOf({ teamId, enterpriseId }: Token): { teamId?: string; enterpriseId?: string } {
  return { ...(teamId ? { teamId } : {}), ...(enterpriseId ? { enterpriseId } : {}) };
}

export function tokensOf(world: World, owner: { teamId?: string; enterpriseId?: string }): Token[] {
  return [...world.tokens.values()].filter(
    (token) =>
      token.kind === 'bot' && token.teamId === owner.teamId && token.enterpriseId === owner.enterpriseId,
  );
}

/** Takes the bot out of a workspace: its tokens are dead, its user is deleted, its modals are gone. */
export function removeBot(world: World, workspace: Workspace): void {
  const { installation } = workspace;
  if (!installation) return;
  for (const token of world.tokens.values()) {
    if (token.teamId === workspace.id && token.state === 'active') token.state = 'inactive';
  }
  const bot = workspace.people.get(installation.botUserId);
  if (bot) bot.deleted = true;
  for (const channel of workspace.channels.values()) {
    if (channel.kind !== 'im') channel.members.delete(installation.botUserId);
  }
  for (const seat of world.workspaces.values()) closeViewsOf(seat, workspace);
  workspace.installation = undefined;
  world.changes.emit({ type: 'workspace', team: workspace.id });
}

/** The views that an installation has shown to the people of a workspace go with it. */
function closeViewsOf(seat: Workspace, installed: Workspace): void {
  for (const [userId, stack] of seat.stacks) {
    seat.stacks.set(
      userId,
      stack.filter((view) => view.installedTeamId !== installed.id),
    );
  }
  for (const [userId, home] of seat.homes) {
    if (home.installedTeamId === installed.id) seat.homes.delete(userId);
  }
}

/** The bot as the author of a message. */
export function botAuthor({ app }: World, { botUserId, botId }: Installation) {
  return { user: botUserId, bot_id: botId, app_id: app.appId };
}

/** The app's own token, which opens Socket Mode connections. */
export function issueAppToken(world: World): string {
  const token = `xapp-1-${world.app.appId}-${digits(13)}-${secretHex(32)}`;
  world.tokens.set(token, { token, kind: 'app', scopes: ['connections:write'], state: 'active' });
  return token;
}
