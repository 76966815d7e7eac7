import type { EntityMetadata } from '@slack/types';
import { z } from 'zod';
import { AccountFailure, UserError } from '../../core/errors.ts';
import { isDirect, type KnownBlock, SlackTs } from '../../core/message.ts';
import { withTimeout } from '../../core/time/clock.ts';
import type { Account } from '../../records/accounts.ts';
import { type ActivityEvent, filterEvents, getActivity } from '../../service/activity.ts';
import { type Addressed, projectUrl, readAddress } from '../../service/addresses.ts';
import { getServer } from '../../service/servers.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';
import type { MessageRef } from '../../slack/slack.ts';
import {
  projectCard,
  projectDetails,
  projectUnfurl,
  type ShownProject,
  serverUnfurl,
} from '../../views/unfurls/unfurl-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { findRefusal } from '../permission.ts';
import type { SlackEvent } from '../slack-event.ts';

const LinkShared = z.object({
  channel: z.string(),
  message_ts: SlackTs,
  user: z.string(),
  /** `composer` while the message is still being written: Slack sends the event again once it is posted. */
  source: z.string().nullish(),
  links: z.array(z.object({ url: z.string() })),
});
type LinkShared = z.infer<typeof LinkShared>;

const MAX_A_MESSAGE = 3;
const QUIET_MS = 30 * 60_000;

/** A link to an account that is connected in this workspace. */
interface ConnectedLink {
  url: string;
  account: Account;
  link: Addressed;
}

/** Shows the live state of linked projects and servers under a message. Failures are only logged. */
export async function unfurlLinks(context: CommandContext, body: SlackEvent): Promise<void> {
  const { workspace } = context;
  const parsed = LinkShared.safeParse(body.event);
  if (!parsed.success || parsed.data.source === 'composer') return;
  const event = parsed.data;
  // The other people in a shared channel belong to another company.
  if (body.is_ext_shared_channel === true) return logSkipped(workspace, 'shared channel');
  const links = await findLinks(workspace, event);
  if (links.length === 0) return logSkipped(workspace, 'nothing of a connected account');
  for (const one of links.slice(0, MAX_A_MESSAGE))
    if (await mayShow(workspace, event, one)) await unfurlOnce(context, event, one);
  if (links.length > MAX_A_MESSAGE) logSkipped(workspace, 'many in one message');
}

/** Links to connected accounts, each project or server once, in the order of the message. */
async function findLinks({ accounts, config }: Workspace, { links }: LinkShared): Promise<ConnectedLink[]> {
  const unique = new Map<string, ConnectedLink>();
  for (const { url } of links) {
    const link = readAddress(url, config.SERVICE_BASE_URL);
    const account = link && (await accounts.get(link.account));
    const name = JSON.stringify(link);
    if (account && !unique.has(name)) unique.set(name, { url, account, link });
  }
  return [...unique.values()];
}

/** The claim names its message: a repeat after a kill continues, and other messages are skipped. */
async function unfurlOnce(
  { workspace, explain }: CommandContext,
  { channel, message_ts: ts }: LinkShared,
  one: ConnectedLink,
): Promise<void> {
  const unfurl = ['unfurl', channel, one.link];
  if (!(await workspace.once(unfurl, QUIET_MS, ts))) return logSkipped(workspace, 'shown here lately');
  try {
    const state = await readState(workspace, one);
    if (state === undefined) return logSkipped(workspace, 'no such project');
    await showUnder(workspace, { channel, ts }, { url: one.url, ...state });
  } catch (error) {
    // Nothing is shown, so the next link may try.
    await workspace.undoOnce(unfurl);
    explain(error, { channel, job: 'unfurl' });
  }
}

/** Returns undefined if the account has no such project. */
async function readState(
  workspace: Workspace,
  { url, account, link }: ConnectedLink,
): Promise<Unfurl | undefined> {
  const { project: projectName, server } = link;
  if (server !== undefined) {
    const match = await workspace.accounts.use(account, (client) => getServer(client, projectName, server));
    return { blocks: serverUnfurl(account.name, projectName, match) };
  }
  const match = await linkedProject(workspace, account, projectName);
  const blocks = match && projectUnfurl(match);
  return blocks && { blocks, card: projectCard(match, url) };
}

function logSkipped({ log }: Workspace, reason: string): void {
  log.info({ event: 'unfurl_skipped', reason }, 'Link preview skipped');
}

/** True if the person may run the command that shows the same. False if Slack cannot say who posted the link. */
async function mayShow(
  workspace: Workspace,
  { user, channel }: LinkShared,
  { link }: ConnectedLink,
): Promise<boolean> {
  const command = link.server === undefined ? 'projects' : 'server show';
  try {
    const refusal = await findRefusal(workspace, { user, command, role: 'member', channels: [channel] });
    if (refusal !== undefined) logSkipped(workspace, 'not allowed');
    return refusal === undefined;
  } catch (error) {
    if (!isSlackFailure(error) && !(error instanceof UserError)) throw error;
    const reason = isSlackFailure(error) ? error.reason : 'unknown';
    workspace.log.info({ event: 'member_unknown', user, reason }, 'Look-up of a person failed');
    return false;
  }
}

/** A link's preview. */
interface Unfurl {
  blocks: KnownBlock[];
  /** The same as a work object, whose pane can be opened. */
  card?: EntityMetadata;
}

/** Shows the work object if Slack accepts it here, else the blocks alone. */
async function showUnder(
  { slack, newBlocks }: Pick<Workspace, 'slack' | 'newBlocks'>,
  { channel, ts }: MessageRef,
  { url, blocks, card }: Unfurl & { url: string },
): Promise<void> {
  const show = (more: { metadata?: { entities: EntityMetadata[] } }) =>
    slack.call('chat.unfurl', { channel, ts, unfurls: { [url]: { blocks } }, ...more }, BACKGROUND);
  if (card === undefined || (await newBlocks.areRefused('work_object'))) return void (await show({}));
  try {
    await show({ metadata: { entities: [card] } });
  } catch (error) {
    if (!isSlackFailure(error, 'rejected') || !REFUSALS.test(error.reason)) throw error;
    await show({});
    await newBlocks.refuse('work_object');
  }
}

/** Slack's words hold it, as `error_processing_metadata` and `invalid_metadata_format` do, or say less. */
const REFUSALS = /metadata|^feature_not_enabled$|^invalid_arguments$/;

/** The pane is empty until then, and Slack's handle for it expires. */
const FEED_MS = 1_500;

/**
 * Content of the pane beside the conversation, read with the key that acts for the person.
 * @throws UserError, the same for an unknown project and an account that is not connected here
 */
export async function readDetails(context: CommandContext, address: string): Promise<EntityMetadata> {
  const { workspace, invocation } = context;
  const link = readAddress(address, workspace.config.SERVICE_BASE_URL);
  const account = link && (await workspace.accounts.get(link.account, invocation));
  if (link === undefined || account === undefined) throw unknownProject();
  const [match, events] = await Promise.all([
    linkedProject(workspace, account, link.project),
    latestEvents(context, account),
  ]);
  if (match === undefined) throw unknownProject();
  return projectDetails(match, events && filterEvents(events, match.project));
}

function unknownProject(): UserError {
  return new UserError('There is no such project in an account that is connected here.', 'projects');
}

/** Returns undefined if the service fails or is late: the rest is shown without events. */
async function latestEvents(
  { workspace: { accounts, clock }, explain }: CommandContext,
  account: Account,
): Promise<readonly ActivityEvent[] | undefined> {
  const reading = accounts.use(account, (client) => getActivity(client, { range: 'last_30_days' }));
  try {
    return (await withTimeout(clock, FEED_MS, reading))?.events;
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    explain(error, { job: 'work_object' });
    return undefined;
  }
}

/** A linked project with its latest test; undefined if the account has none of that name. */
async function linkedProject(
  { config, projects, runs }: Pick<Workspace, 'config' | 'projects' | 'runs'>,
  account: Account,
  accountName: string,
): Promise<ShownProject | undefined> {
  const all = await projects.list(account);
  const project = all.find(({ permalink, identifier }) => [permalink, identifier].includes(accountName));
  if (project === undefined) return undefined;
  const run = await runs.latest({ account: account.name, project });
  const latest = isDirect(run?.channel) ? undefined : run;
  const url = projectUrl(account.name, project.permalink, config.SERVICE_BASE_URL);
  return { account: account.name, url, project, latest };
}
