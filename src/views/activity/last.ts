import type { Message } from '../../core/message.ts';
import { bold, code, dateTime, mrkdwn, sanitize, takeStart } from '../../core/mrkdwn.ts';
import type { Coverage } from '../../records/ledger.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { listBlocks } from '../blocks/lists.ts';
import { header, notes, say, section } from '../blocks/message.ts';
import { coverageNotes, revisionWords, subjectWords } from './activity.ts';

/** The deployments of one server that matter now. */
export interface LiveServer {
  /** Empty for deployments that name no server. */
  server: string;
  /** Its latest deployment that succeeded; undefined if none is known. */
  live: ActivityEvent | undefined;
  /** The deployment that was live before. */
  before: ActivityEvent | undefined;
  /** Other deployments of today. */
  today: number;
  /** The latest deployment, if it failed. */
  failure: ActivityEvent | undefined;
  /** When the live revision was live before; undefined if it is a new one. Milliseconds since the epoch. */
  back: { from: number; to: number } | undefined;
}

/** The present deployment of each server of a project. */
export function lastMessage(
  account: string,
  project: { name: string },
  servers: readonly LiveServer[],
  coverage: Coverage,
): Message {
  const of = subjectWords(account, project);
  if (servers.length === 0) return say(`Deckhand knows no deployment of ${of}.`);
  const lines = servers.map(describeServer);
  return {
    text: `Deployed now, ${of}: ${lines[0]?.split('\n')[0]}`,
    blocks: [
      header('Deployed now'),
      section(of),
      ...listBlocks(lines),
      ...notes(...coverageNotes({ since: undefined, gaps: coverage.gaps })),
    ],
  };
}

function describeServer({ server, live, before, today, failure, back }: LiveServer): string {
  const name = server === '' ? 'No server named' : bold(server, 60);
  const more = today === 0 ? '' : `  ${today} more today`;
  const lines = [
    live === undefined
      ? `${name}: no deployment that succeeded is known`
      : `:large_green_circle: ${name}: ${describeDeployment(live)}${more}`,
  ];
  if (back !== undefined)
    lines.push(`:rewind: back to ${nameRevision(live)}, live ${dateTime(back.from)} to ${dateTime(back.to)}`);
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

function nameRevision(event: ActivityEvent | undefined): string {
  return code(takeStart(sanitize(event?.properties.end_ref ?? ''), 7));
}
