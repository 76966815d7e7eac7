import { defined } from '../../core/json.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { describeList } from '../../core/message-text.ts';
import {
  code,
  count,
  joinFirst,
  joinLinesWithin,
  mrkdwn,
  timeBefore,
  toSentence,
  withoutStop,
} from '../../core/mrkdwn.ts';
import type { Episode, FailedItem, ShownSubject, Subject } from '../../records/episodes.ts';
import type { OutageNews } from '../../records/outages.ts';
import { roughly } from '../blocks/formats.ts';
import { context, LIMITS, safeUrl, say, section } from '../blocks/make-blocks.ts';
import { projectLink } from '../blocks/page-links.ts';
import { reasonWords } from '../test-access/items.ts';
import { describeFailing, describeReason, linkProject, quietNote } from './describe-episode.ts';
import { describeJoined, mentionWords, PAUSED_NOTE } from './episode.ts';
import { drawOutageButtons, muteButtons } from './episode-buttons.ts';

/** A failure that belongs to an outage. */
export interface ShownMember {
  subject: ShownSubject;
  episode: Episode;
  /** Address of its own message, if it has one. */
  link?: string | undefined;
}

/** Failures of several projects in one message. */
export interface ShownOutage {
  place: string;
  id: string;
  kind: Subject['kind'];
  channel: string;
  account: string;
  person?: string | undefined;
  owner?: string | undefined;
  /** Oldest first. */
  members: readonly ShownMember[];
  /** Number of members, with those that are forgotten. */
  amount: number;
  /** Set if it is what still failed after a quiet: how many projects failed and recovered until its end. */
  quiet?: { failed: number; recovered: number; endedAt: number } | undefined;
  /** The quiet that lasts for all that fails. */
  silence?: NonNullable<ShownSubject['quiet']> | undefined;
}

/** Rows in the message. */
const MAX_ROWS = 10;
/** After a quiet, more failures are counted, as in any outage. */
const MAX_STILL_FAILING = 4;
/** Rows in the notification. */
const MAX_IN_TEXT = 20;
const MAX_REASON = 200;

export function listFailing({ members }: ShownOutage): ShownMember[] {
  return members.filter(({ episode }) => episode.ending === undefined);
}

/** Time of its first failure, milliseconds since the epoch. */
export function readSince({ members }: ShownOutage): number {
  return Math.min(...members.map(({ episode }) => episode.since));
}

/**
 * "20 projects of `acme` are failing since 14:02, all on web-1: Connection refused", or "20 projects of `acme` recovered
 * after 38 min"; mrkdwn.
 */
export function describeOutage(outage: ShownOutage): string {
  const { kind, account, members, amount, quiet } = outage;
  const failing = listFailing(outage);
  if (quiet !== undefined && failing.length > 0 && failing.length <= MAX_STILL_FAILING)
    return `Still failing: ${describeStillFailing(failing, quiet.endedAt)}`;
  const isOneAccount = new Set(members.map(({ subject }) => subject.account)).size < 2;
  const projects = (number: number): string =>
    `${count(number, 'project')}${isOneAccount ? ` of ${code(account)}` : ''}`;
  const since = readSince(outage);
  if (failing.length > 0) {
    const recovered = amount - failing.length;
    const from = timeBefore(since, Math.max(...members.map(({ episode }) => episode.newsAt)));
    const verb = failing.length === 1 ? 'is' : 'are';
    const what = kind === 'deployments' ? 'failing' : 'unreachable';
    const more = recovered === 0 ? '' : ` (${recovered} recovered)`;
    return `${projects(failing.length)} ${verb} ${what} since ${from}${more}${describeCommon(failing)}`;
  }
  const endings = members.flatMap(({ episode }) => episode.ending ?? []);
  const closed = endings.filter((ending) => ending.kind === 'closed').length;
  const after = roughly(Math.max(...endings.map(({ at }) => at)) - since);
  if (closed === 0) return `${projects(amount)} recovered after ${after}`;
  const who = [...new Set(endings.flatMap(({ requestedBy }) => requestedBy ?? []))];
  const by = who.length === 0 ? '' : ` by ${who.map((user) => `<@${user}>`).join(', ')}`;
  return closed === amount
    ? `Failure of ${projects(amount)} closed${by}, not mended`
    : `Failure of ${projects(amount)} is over after ${after}: ${amount - closed} recovered, ${closed} closed${by}, not mended`;
}

/** "Billing API since 20:40, Storefront since 21:10"; mrkdwn. */
function describeStillFailing(failing: readonly ShownMember[], endedAt: number): string {
  // The oldest failure of a project comes first; its deployments and a guard may both fail.
  const byProject = Map.groupBy(failing, ({ subject }) => `${subject.account}/${subject.project}`);
  const oldest = [...byProject.values()].flatMap(([first]) => first ?? []);
  const describe = ({ subject, episode: { since } }: ShownMember): string =>
    `${linkProject(subject)} since ${timeBefore(since, endedAt)}`;
  return oldest.map(describe).join(', ');
}

/** "While it was quiet: 3 projects failed, 2 recovered." */
export function describeQuiet({ failed, recovered }: { failed: number; recovered: number }): string {
  const what = failed === 0 ? 'nothing more failed' : `${count(failed, 'project')} failed`;
  return `While it was quiet: ${what}${recovered === 0 ? '' : `, ${recovered} recovered`}.`;
}

function describeWhole(outage: ShownOutage): string {
  const { quiet } = outage;
  return `${quiet === undefined ? '' : `${describeQuiet(quiet)} `}${describeOutage(outage)}`;
}

/** ", all on web-1: Connection refused"; empty if they have nothing in common. */
function describeCommon(failing: readonly ShownMember[]): string {
  const { server, reason } = findCommon(failing);
  return `${server === undefined ? '' : `, all on ${mrkdwn(server, 60)}`}${reason === undefined ? '' : `: ${mrkdwn(reason, MAX_REASON)}`}`;
}

/** A server or address, and a reason, that failing projects share. The text comes from the service. */
function findCommon(failing: readonly ShownMember[]): {
  server: string | undefined;
  reason: string | undefined;
} {
  const items = failing.map(listItems);
  const messages = items.flatMap((own) => own.flatMap(({ message }) => message ?? []));
  const lines = failing.map(({ episode }) => episode.step?.line);
  const reasons = messages.length > 0 ? messages : lines;
  const isOneReason = new Set(reasons).size === 1;
  const [reason] = isOneReason ? reasons : [];
  const server = findShared(failing.map(listServers)) ?? (isOneReason ? undefined : findAddress(items));
  return { server, reason };
}

/** Unreachable parts of the project, by its guard or by the test after its failure. */
function listItems({ episode: { items = [], diagnosis } }: ShownMember): readonly FailedItem[] {
  return items.length > 0 ? items : (diagnosis?.items ?? []);
}

function listServers({ subject, episode }: ShownMember): string[] {
  if (subject.kind === 'deployments') return episode.allServers ?? episode.servers ?? [];
  return (episode.items ?? []).filter(({ key }) => key.startsWith('server:')).map(({ title }) => title);
}

/** An address in the reasons of all. */
function findAddress(items: ReadonlyArray<readonly FailedItem[]>): string | undefined {
  const listAddresses = (own: readonly FailedItem[]): string[] =>
    own.flatMap(({ message }) => message?.match(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g) ?? []);
  return findShared(items.map(listAddresses));
}

function findShared(lists: ReadonlyArray<readonly string[]>): string | undefined {
  const [first = [], ...rest] = lists;
  return first.find((name) =>
    rest.every((own) => own.some((one) => one.toLowerCase() === name.toLowerCase())),
  );
}

/** "*Storefront*: the deployment to web-1 failed, Connection refused"; mrkdwn. */
function describeMember(
  { subject, episode, link }: ShownMember,
  { isReasonCommon, owner }: { isReasonCommon: boolean; owner: string | undefined },
): string {
  const items = listItems({ subject, episode });
  const [item] = items;
  const reason =
    isReasonCommon || item === undefined ? '' : `: ${withoutStop(reasonWords(item, MAX_REASON))}`;
  // The headline has a common reason.
  const diagnosis = isReasonCommon || item === undefined ? undefined : episode.diagnosis;
  const step = episode.step && { ...episode.step, line: isReasonCommon ? undefined : episode.step.line };
  const cause = describeReason(subject, { ...episode, diagnosis, step });
  const why = subject.kind === 'deployments' ? cause && `. ${withoutStop(cause)}` : reason;
  // The headline names the owner of all of it.
  const onIt = [undefined, owner].includes(episode.owner) ? '' : `, <@${episode.owner}> is on it`;
  const url = safeUrl(link);
  const own = url === undefined ? '' : `, see <${url}|its own message>`;
  const name = projectLink(subject.pages, subject.account, subject);
  return `${name}: ${describeFailing(subject, episode)}${why}${onIt}${own}`;
}

/** The first failing projects with their reasons, and the number of the others. */
function describeRows(outage: ShownOutage, max: number): { rows: string[]; omitted: number } {
  const failing = listFailing(outage);
  const shared = { isReasonCommon: findCommon(failing).reason !== undefined, owner: outage.owner };
  const rows = failing.slice(0, max).map((member) => describeMember(member, shared));
  return { rows, omitted: failing.length - rows.length };
}

/** The whole outage without formatting, for phones and screen readers. */
export function outageText(outage: ShownOutage, max?: number): string {
  const { owner } = outage;
  const isOpen = listFailing(outage).length > 0;
  const end = owner === undefined ? '' : `<@${owner}> ${isOpen ? 'is' : 'was'} on it.`;
  const { rows, omitted } = describeRows(outage, MAX_IN_TEXT);
  return describeList(describeWhole(outage), rows, { omitted, end, ...defined({ max }) });
}

/** The first failing projects with their reasons below a headline, and how many more; mrkdwn. */
export function listRows(outage: ShownOutage, headline: readonly string[]): string {
  const { rows, omitted } = describeRows(outage, MAX_ROWS);
  const lines = [...headline, ...rows.map((row) => `• ${row}`)];
  return joinLinesWithin(lines, LIMITS.sectionText, 'more', omitted);
}

/** The message of an outage. */
export function outageRoot(outage: ShownOutage): Message {
  const failing = listFailing(outage);
  const isOpen = failing.length > 0;
  const isClosed = outage.members.some(({ episode }) => episode.ending?.kind === 'closed');
  const icon = isOpen ? ':rotating_light:' : isClosed ? ':white_circle:' : ':large_green_circle:';
  const { owner, silence } = outage;
  const all = failing.length > 1 ? 'all of it' : 'it';
  const onIt = isOpen && owner !== undefined ? [`:raising_hand: <@${owner}> is on ${all}`] : [];
  const wasOnIt = !isOpen && owner !== undefined && `<@${owner}> was on it`;
  const isPaused = isOpen && failing.every(({ episode }) => episode.isPaused === true);
  const names = joinFirst(
    outage.members.map(({ subject }) => linkProject(subject)),
    MAX_ROWS,
  );
  return {
    text: outageText(outage),
    isTextWhole: true,
    blocks: [
      section(listRows(outage, [`${icon} *${describeWhole(outage)}*`, ...onIt])),
      context(
        isOpen ? code(outage.account) : names,
        wasOnIt,
        isPaused && PAUSED_NOTE,
        isOpen && silence !== undefined && quietNote(silence),
      ),
      ...(isOpen ? drawButtons(outage) : []),
    ],
  };
}

function drawButtons(outage: ShownOutage): KnownBlock[] {
  return outage.person === undefined ? drawOutageButtons(outage) : muteButtons(outage.account);
}

/** Thread reply about the members of an outage, or a click. @param members the failures, for links */
export function outageReply(news: OutageNews, members: readonly ShownMember[]): Message {
  const { kind, requestedBy = '', takenFrom, project, joined = [], again = [], ended = [] } = news;
  if (kind === 'servers') {
    const name = nameMember(project?.name ?? '', members);
    const what = describeJoined(name, project?.kind ?? 'deployments', joined);
    return say(`:rotating_light: *${what}*`);
  }
  const clicks: Record<Exclude<OutageNews['kind'], 'members' | 'servers'>, string> = {
    claim:
      takenFrom === undefined
        ? `:raising_hand: <@${requestedBy}> is on all of it.`
        : `:raising_hand: <@${requestedBy}> took all of it over from <@${takenFrom}>.`,
    release: `:wave: <@${requestedBy}> handed it back, so nobody is on it.`,
    close: `:white_circle: <@${requestedBy}> closed it. The next failures start new messages.`,
  };
  if (kind !== 'members') return say(clicks[kind]);
  const list = (names: readonly string[]): string =>
    joinFirst(
      names.map((name) => nameMember(name, members)),
      MAX_ROWS,
    );
  const lines = [
    joined.length > 0 && `:rotating_light: Failing too: ${list(joined)}`,
    again.length > 0 && `:rotating_light: Failing again: ${list(again)}`,
    ended.length > 0 && `:large_green_circle: No longer failing: ${list(ended)}`,
  ].filter((line) => line !== false);
  return say(joinLinesWithin(lines, LIMITS.sectionText));
}

/** The name of a project as a link to its page; mrkdwn. */
function nameMember(name: string, members: readonly ShownMember[]): string {
  const own = members.flatMap(({ subject }) => (subject.name === name ? linkProject(subject) : []));
  // Another project may have the same name.
  const [link, ...others] = new Set(own);
  return link === undefined || others.length > 0 ? mrkdwn(name, 80) : link;
}

/** Thread reply about an outage that nobody has taken for a day. */
export function outageReminder(outage: ShownOutage): Message {
  return say(
    `:alarm_clock: ${toSentence(describeOutage(outage))} Nobody has been on it for a day. The button above says that you are.`,
  );
}

/** Thread reply about an outage that nobody has taken. @param mentions ids of people and groups */
export function outageEscalationReply(outage: ShownOutage, mentions: readonly string[], ms: number): Message {
  const { owner } = outage;
  const after =
    owner === undefined
      ? `Nobody is on it after ${roughly(ms)}.`
      : `<@${owner}> is on it, but it got worse ${roughly(ms)} ago.`;
  return say(
    [
      ':bell:',
      mentionWords(mentions) || 'Nobody is left to mention.',
      toSentence(describeOutage(outage)),
      after,
    ].join(' '),
  );
}
