import {
  capitalised,
  count,
  dateTime,
  joinFirst,
  mrkdwn,
  timeBefore,
  toSentence,
  withoutStop,
} from '../../core/mrkdwn.ts';
import { findProjectPage } from '../../core/service-pages.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { Episode, FailedItem, ShownSubject, Subject } from '../../records/episodes.ts';
import { roughly } from '../blocks/formats.ts';
import { linkName } from '../blocks/page-links.ts';
import { reasonWords } from '../test-access/items.ts';
import { describeCommit, describeStep } from './describe-step.ts';

const MAX_REASON = 200;

/**
 * "Storefront: the deployment to web-1 failed at 10:12", or "Storefront recovered after 38 min" with ": 3 deployments
 * failed, then `4bcef3e` by Grace Park succeeded."; mrkdwn, the title without asterisks.
 */
export function describeEpisode(subject: ShownSubject, episode: Episode): { title: string; more: string } {
  const { ending, owner } = episode;
  const name = nameSubject(subject);
  if (ending?.kind === 'closed') {
    const title = `Failure of ${name} ${describeClosing(ending)}`;
    return { title, more: subject.kind === 'deployments' ? `. ${countFailed(episode)}.` : '' };
  }
  if (ending !== undefined) {
    const { title, more } = describeRecovery(name, subject, { ...episode, ending });
    return { title, more: `${more}${owner === undefined ? '' : ` <@${owner}> was on it.`}` };
  }
  return { title: describeOpen(name, subject, episode), more: '' };
}

/** The name of the project, as a link to its page; mrkdwn. */
export function linkProject(subject: ShownSubject): string {
  return linkName(mrkdwn(subject.name, 80), findProjectPage(subject.pages, subject));
}

/** "Storefront", or "Storefront in acme"; mrkdwn. */
export function nameSubject(subject: ShownSubject): string {
  const { account, isAccountShown = false } = subject;
  return `${linkProject(subject)}${isAccountShown ? ` in ${mrkdwn(account)}` : ''}`;
}

function describeOpen(name: string, subject: ShownSubject, episode: Episode): string {
  const { since, newsAt } = episode;
  const isOld = newsAt - since > 12 * HOUR_MS;
  const from = timeBefore(since, newsAt);
  const what = describeFailing(subject, episode);
  const again = episode.again === undefined ? '' : ` is ${failingAgain(episode.again)}`;
  if (subject.kind === 'reachability') return `${name}${again}: ${what} since ${from}`;
  if (countOwn(episode) === 1) return `${name}${again}: ${what} ${isOld ? '' : 'at '}${from}`;
  return again === ''
    ? `${name} has been failing since ${from}: ${what}`
    : `${name}${again}: ${what} since ${from}`;
}

const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');

/** "failing again, the third time within an hour" */
export function failingAgain(times: number): string {
  return `failing again${times < 2 ? '' : `, the ${ORDINALS[times - 1] ?? `${times}th`} time within an hour`}`;
}

/** Failures since it began, or began again. */
function countOwn({ failures, failuresBefore = 0 }: Episode): number {
  return failures - failuresBefore;
}

function describeRecovery(
  name: string,
  subject: ShownSubject,
  episode: Episode & { ending: NonNullable<Episode['ending']> },
): { title: string; more: string } {
  const { kind } = subject;
  const { since, ending, allItems = [], again: times = 1 } = episode;
  const took = roughly(ending.at - since);
  const flapped = times < 2 ? '' : ` It failed ${times} times within an hour.`;
  if (kind === 'reachability' && allItems.length > 0)
    return { title: `${name} recovered`, more: `. ${describeOutage(subject, allItems, took)}.${flapped}` };
  // Without a revision the words begin with the person.
  const next = ending.words?.startsWith('by ') ? `one ${ending.words}` : ending.words;
  const success = next ? `, then ${next} succeeded` : '';
  const failed = kind === 'deployments' ? `: ${countFailed(episode)}${success}` : '';
  return { title: `${name} recovered after ${took}`, more: `${failed}.${flapped}` };
}

/** "web-2 was unreachable for 3 h 4 min: No route to host" */
function describeOutage(subject: ShownSubject, items: readonly FailedItem[], took: string): string {
  const [first] = items;
  if (items.some(isTest)) return `The test failed for ${took}`;
  const isOneReason = items.every(({ message }) => message === first?.message);
  const reason = first?.message && isOneReason ? `: ${withoutStop(reasonWords(first, MAX_REASON))}` : '';
  return `${listNames(subject, items, false)} ${items.length === 1 ? 'was' : 'were'} unreachable for ${took}${reason}`;
}

function describeClosing({ requestedBy, why }: NonNullable<Episode['ending']>): string {
  if (requestedBy !== undefined) return `closed by <@${requestedBy}>, not mended`;
  if (why === 'gone') return 'closed: it is no longer listed at the service';
  return why === 'unfollowed'
    ? 'closed: it is no longer followed here'
    : 'closed: no news for 7 days, not mended';
}

/** "the deployment to web-1 failed", "3 deployments failed", "web-1 and web-3 are unreachable" */
export function describeFailing(subject: ShownSubject, episode: Episode): string {
  const { items = [], servers = [] } = episode;
  if (subject.kind === 'deployments') {
    if (countOwn(episode) > 1) return countFailed(episode);
    const names = joinFirst(servers.map((server) => mrkdwn(server, 40)));
    return `the deployment${names && ` to ${names}`} failed`;
  }
  if (items.some(isTest)) return 'the test is failing';
  return `${listNames(subject, items, true)} ${items.length === 1 ? 'is' : 'are'} unreachable`;
}

function countFailed(episode: Episode): string {
  return `${count(countOwn(episode), 'deployment')} failed`;
}

function isTest({ key }: FailedItem): boolean {
  return key === 'test';
}

function listNames(
  { account, permalink, pages }: ShownSubject,
  items: readonly FailedItem[],
  isWithin: boolean,
): string {
  const repository = isWithin ? 'the repository' : 'The repository';
  const name = ({ key, title }: FailedItem): string => {
    const identifier = key.startsWith(SERVER_KEY) ? key.slice(SERVER_KEY.length) : undefined;
    return linkName(
      mrkdwn(title, 40),
      identifier && permalink && pages?.server(account, permalink, identifier),
    );
  };
  return joinFirst(items.map((item) => (item.key === 'repository' ? repository : name(item))));
}

/** Begins the key of a server among what a test has reached. */
const SERVER_KEY = 'server:';

/** Why it fails, as the failed step and the latest test know it; mrkdwn. Empty if nothing is known. */
export function describeReason({ kind }: Subject, { items = [], diagnosis, step }: Episode): string {
  if (kind === 'deployments')
    return [(step && describeStep(step)) ?? '', diagnosis?.line ?? '']
      .filter(Boolean)
      .map(toSentence)
      .join(' ');
  const reasons = items.filter(({ message }) => message);
  const [first] = reasons;
  if (first === undefined) return '';
  if (items.every(({ message }) => message === first.message)) return reasonWords(first, MAX_REASON);
  return reasons
    .map((item) => `${mrkdwn(item.title, 40)}: ${withoutStop(reasonWords(item, MAX_REASON))}`)
    .join(', ');
}

/** A line below a failure whose channel is quiet about it; mrkdwn. */
export function quietNote({ until, requestedBy }: { until: number; requestedBy: string }): string {
  return `:no_bell: Quiet here until ${dateTime(until)}, by <@${requestedBy}>`;
}

/** The whole message for phones and screen readers: what, who, where and why; mrkdwn. */
export function episodeText(subject: ShownSubject, episode: Episode): string {
  const { title, more } = describeEpisode(subject, episode);
  const { words, servers = [], owner, ending, step } = episode;
  const names = servers.map((server) => mrkdwn(server, 40));
  const where = names.length === 0 ? '' : `on ${joinFirst(names, 10)}`;
  const who = subject.kind === 'deployments' && words ? [words, where].filter(Boolean).join(' ') : '';
  const commit = (step && describeCommit(step)) ?? '';
  const open = [
    who,
    describeReason(subject, episode),
    commit,
    owner === undefined ? '' : `<@${owner}> is on it`,
  ];
  const rewind = capitalised(ending?.rewind?.replace(':rewind: ', '') ?? '');
  const sentences = [`${title}${more}`, ...(ending === undefined ? open : [rewind])];
  return sentences.filter(Boolean).map(toSentence).join(' ');
}
