import type { Message } from '../../core/message.ts';
import { bold, dateTime, joinFirst, mrkdwn } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Coverage } from '../../records/ledger.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { listBlocks } from '../blocks/lists.ts';
import { header, notes, say, section } from '../blocks/make-blocks.ts';
import { serverLink } from '../blocks/page-links.ts';
import { coverageNotes, revisionWords, rewindWords, subjectWords } from './activity-message.ts';
import { listWaiting, type WaitingCommits, waitingWords } from './waiting.ts';

/** The deployments of one server that matter now. */
export interface LiveServer {
  /** Empty for deployments that name no server. */
  server: string;
  /** Undefined if Deckhand does not know it. */
  identifier?: string | undefined;
  /** Its latest deployment that succeeded; undefined if none is known. */
  live: ActivityEvent | undefined;
  /** The deployment that was live before. */
  before: ActivityEvent | undefined;
  /** Other deployments of today. */
  today: number;
  /** The latest deployment, if it failed. */
  failure: ActivityEvent | undefined;
}

interface LastDetails extends Pick<Coverage, 'gaps'> {
  /** Name of the only server that was asked for. */
  server?: string | undefined;
  /** Commits that wait to be deployed. */
  waiting: WaitingCommits | undefined;
  zone: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Undefined for a message without links. */
  pages?: Pages | undefined;
}

/** Maximum number of servers that one row names. */
const MAX_NAMED = 10;

/** The present deployment of each server of a project. Servers with the same one share a row. */
export function lastMessage(
  account: string,
  project: { name: string; permalink: string },
  servers: readonly LiveServer[],
  { gaps, server, waiting, zone, now, pages }: LastDetails,
): Message {
  const of = subjectWords(account, project);
  const linked = subjectWords(account, project, pages);
  const waits = waiting === undefined ? [] : [waitingWords(waiting, { zone, now })];
  const commits = waiting === undefined ? [] : [[`*${waits}*`, ...listWaiting(waiting)].join('\n')];
  if (servers.length === 0)
    return say(
      [
        `Deckhand knows no deployment of ${server === undefined ? '' : `${bold(server)} of `}${linked}.`,
        ...waits.map((words) => `${words}.`),
      ].join(' '),
      ...commits.map((lines) => section(lines)),
    );
  const place = { account, permalink: project.permalink };
  const alike = [
    ...Map.groupBy(servers, (one) => `${one.server === ''} ${describeServer(one, '')}`).values(),
  ];
  const describe = (nameOne: (one: LiveServer) => string): string[] =>
    alike.map(([one, ...others]) =>
      one === undefined ? '' : describeServer(one, joinFirst([one, ...others].map(nameOne), MAX_NAMED)),
    );
  const [first] = describe(({ server }) => bold(server, 60));
  const lines = describe(({ server, identifier }) =>
    serverLink(pages, place, { name: server, identifier }, 60),
  );
  return {
    text: [`Deployed now, ${of}: ${first?.split('\n')[0]}`, ...waits].join('. '),
    blocks: [
      header('Deployed now'),
      section(linked),
      ...listBlocks([...lines, ...commits]),
      ...notes(...coverageNotes({ since: undefined, gaps })),
    ],
  };
}

/** @param title names of the servers; mrkdwn */
function describeServer({ server, live, before, today, failure }: LiveServer, title: string): string {
  const name = server === '' ? 'No server named' : title;
  const more = today === 0 ? '' : ` (${today} more today)`;
  const lines = [
    live === undefined
      ? `${name}: no deployment that succeeded is known`
      : `:large_green_circle: ${name}: ${describeDeployment(live)}${more}`,
  ];
  if (live !== undefined) lines.push(...rewindWords(live));
  if (failure !== undefined) lines.push(`:x: Failed since: ${describeDeployment(failure)}`);
  if (before !== undefined) lines.push(`Before it: ${describeDeployment(before)}`);
  return lines.join('\n');
}

/** "`1aca834` by Priya Nand, today at 09:09" */
function describeDeployment(event: ActivityEvent): string {
  const [revision, author] = revisionWords(event, (name) => mrkdwn(name, 30));
  const what = [revision || 'an unnamed revision', author].filter(Boolean).join(' ');
  return `${what}, ${dateTime(event.created_at)}`;
}
