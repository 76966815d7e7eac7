import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import type { EventBody } from '../../listeners/events.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { type Addressed, readAddress } from '../../service/addresses.ts';
import { getServer } from '../../service/servers.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';
import type { KnownBlock } from '../../views/blocks/message.ts';
import { projectUnfurl, serverUnfurl } from '../../views/unfurls/unfurl.ts';
import type { Account } from '../../workspace/accounts.ts';
import { isMember } from './member.ts';

const LinkShared = z.object({
  channel: z.string(),
  message_ts: z.string(),
  user: z.string(),
  /** `composer` while the message is still being written: it is told again once it is sent. */
  source: z.string().nullish(),
  links: z.array(z.object({ url: z.string() })),
});
type LinkShared = z.infer<typeof LinkShared>;

const MOST_A_MESSAGE = 3;
const QUIET_MS = 30 * 60_000;
const Claim = z.object({ ts: z.string() });

/** A link to something in an account that is connected in this very workspace. */
interface Known {
  url: string;
  account: Account;
  link: Addressed;
}

/** Shows the live state of linked projects and servers under a message. What fails is a line in the log, no more. */
export async function unfurlLinks(deckhand: Deckhand, workspace: string, body: EventBody): Promise<void> {
  const parsed = LinkShared.safeParse(body.event);
  if (!parsed.success || parsed.data.source === 'composer') return;
  const event = parsed.data;
  // Whoever else is in a shared channel belongs to another company.
  if (body.is_ext_shared_channel === true) return skipped(deckhand, workspace, 'shared channel');
  const known = await knownLinks(deckhand, workspace, event);
  if (known.length === 0) return skipped(deckhand, workspace, 'nothing of a connected account');
  if (!(await isMember(deckhand, workspace, event.user))) return skipped(deckhand, workspace, 'no member');
  for (const one of known.slice(0, MOST_A_MESSAGE)) await unfurlOnce(deckhand, workspace, event, one);
  if (known.length > MOST_A_MESSAGE) skipped(deckhand, workspace, 'many in one message');
}

/** Each project or server once, in the order of the message. */
async function knownLinks(
  { accounts, config }: Deckhand,
  workspace: string,
  { links }: LinkShared,
): Promise<Known[]> {
  const known = new Map<string, Known>();
  for (const { url } of links) {
    const link = readAddress(url, config.SERVICE_BASE_URL);
    const account = link && (await accounts.get(workspace, link.account));
    const name = JSON.stringify(link);
    if (account && !known.has(name)) known.set(name, { url, account, link });
  }
  return [...known.values()];
}

/** The claim names its message, so that a repetition after a kill goes on, and any other stays away. */
async function unfurlOnce(
  deckhand: Deckhand,
  workspace: string,
  { channel, message_ts: ts }: LinkShared,
  known: Known,
): Promise<void> {
  const claims = deckhand.store.collection('unfurls', Claim);
  const id = createHash('sha256')
    .update(JSON.stringify([channel, known.link]))
    .digest('base64url');
  const isFirst = await claims.create(workspace, id, { ts }, deckhand.clock.now() + QUIET_MS);
  if (!isFirst && (await claims.get(workspace, id))?.ts !== ts)
    return skipped(deckhand, workspace, 'told here lately');
  try {
    const blocks = await stateOf(deckhand, workspace, known);
    if (blocks === undefined) return skipped(deckhand, workspace, 'no such project');
    await deckhand.slack.call(
      workspace,
      'chat.unfurl',
      (client) => client.chat.unfurl({ channel, ts, unfurls: { [known.url]: { blocks } } }),
      BACKGROUND,
    );
  } catch (error) {
    // Nothing hangs there, so the next link may try.
    await claims.delete(workspace, id);
    const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
    explainAndLog(error, at, deckhand.log, { workspace, channel, job: 'unfurl' });
  }
}

/** Undefined where the account has no such project. */
async function stateOf(
  deckhand: Deckhand,
  workspace: string,
  { account, link }: Known,
): Promise<KnownBlock[] | undefined> {
  const { project: named, server } = link;
  if (server !== undefined) {
    const found = await deckhand.accounts.use(workspace, account, (client) =>
      getServer(client, named, server),
    );
    return serverUnfurl(account.name, named, found);
  }
  const projects = await deckhand.projects.list(workspace, account);
  const project = projects.find(({ permalink, identifier }) => [permalink, identifier].includes(named));
  if (project === undefined) return undefined;
  const latest = (await deckhand.runs.list(workspace)).find(
    ({ target }) =>
      target.account === account.name &&
      target.project.permalink === project.permalink &&
      target.server === undefined,
  );
  return projectUnfurl(account.name, project, latest);
}

function skipped({ log }: Deckhand, workspace: string, reason: string): void {
  log.info({ event: 'unfurl_skipped', workspace, reason }, 'a link was not unfurled');
}
