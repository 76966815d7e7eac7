import type { Message } from '../../core/message.ts';
import { capitalised, count, joinNames, mrkdwn, timeOnly, withoutStop } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import type { Diagnosis } from '../../records/episodes.ts';
import type { Run } from '../../records/test-runs.ts';
import { button, buttons, say } from '../blocks/make-blocks.ts';
import { itemLines, reasonWords } from '../test-access/items.ts';
import { describeOutcome, timesOfRun } from '../test-access/test-run.ts';

/** Maximum number of names in a line about all servers; a count replaces the rest. */
const MAX_NAMES = 20;
/** More reasons in one line are hard to read. */
const MAX_REASONS = 3;
const MAX_REASON = 200;

interface Unreachable {
  name: string;
  /** Foreign text. */
  message: string | null;
}

/**
 * "web-1 cannot be reached: Connection refused (tested at 14:03)", the result of a test after a failed
 * deployment; mrkdwn. Undefined if the result is not certain.
 * @param serverNames the servers of the event; only these are shown, if the test knows them
 * @param isOlder true if the test began before the failure, so that it says nothing about its cause
 * @param isRepaired true if a test after the failure has found something unreachable
 */
export function diagnosisLine(
  run: Run,
  serverNames: readonly string[],
  { isOlder, isRepaired }: { isOlder: boolean; isRepaired: boolean },
): string | undefined {
  const { failing = [], servers = [], unreachable = [], repository, reachable = 0, total = 0 } = run;
  const tested = ` (tested at ${timeOnly(timesOfRun(run).ended)})`;
  const messageOf = (key: string): string | null => failing.find((item) => item.key === key)?.message ?? null;
  const matches = servers.filter((server) => serverNames.some((name) => isNamed(server, name)));
  const down = unreachable.map((identifier): Unreachable & { isMeant: boolean } => ({
    name: mrkdwn(servers.find((server) => server.identifier === identifier)?.name ?? identifier, 40),
    message: messageOf(`server:${identifier}`),
    isMeant: matches.length === 0 || matches.some((server) => server.identifier === identifier),
  }));
  const serverItems = down.filter(({ isMeant }) => isMeant).slice(0, MAX_NAMES);
  const others = down.length - serverItems.length;
  const when = isOlder ? `At ${timeOnly(timesOfRun(run).began)}, before this failure, ` : '';
  const after = isOlder ? '' : tested;
  if (repository === 'error')
    return (
      when +
      unreachableWords(
        [
          { name: isOlder ? 'the repository' : 'The repository', message: messageOf('repository') },
          ...serverItems,
        ],
        { others, isOlder },
      ) +
      after
    );
  if (serverItems.length > 0) return when + unreachableWords(serverItems, { others, isOlder }) + after;
  if (down.length > 0) {
    const names = matches.map(({ name }) => mrkdwn(name, 40));
    return `${when}${joinNames(names)} ${areOrIs(names.length, isOlder)} reachable, ${count(others, 'other server')} ${areOrIs(others, isOlder)} not.`;
  }
  if (!describeOutcome({ serviceStatus: run.status, ...run }, run.target).isSuccess) return undefined;
  if (isOlder) return `${when}everything was reachable.`;
  const all = `${reachableWords(repository !== undefined, reachable, total)} reachable`;
  // The connection may have been the cause of the failure.
  return isRepaired ? `${all} again${tested}.` : `${all}, so the connection is not the cause.`;
}

/** "web-1 and 2 others cannot be reached: Connection refused" */
function unreachableWords(
  visible: readonly Unreachable[],
  { others, isOlder }: { others: number; isOlder: boolean },
): string {
  const [first, ...rest] = visible;
  const isOneReason = rest.every(({ message }) => message === first?.message);
  const hasReasons = !isOneReason && visible.length <= MAX_REASONS;
  const reason = (one: Unreachable): string => withoutStop(reasonWords(one, MAX_REASON));
  const names = visible.map((one) => (hasReasons ? `${one.name} (${reason(one)})` : one.name));
  const isServerShown = visible.length > 1 || first?.name.toLowerCase() !== 'the repository';
  const more = others === 0 ? [] : [count(others, isServerShown ? 'other' : 'server')];
  const why = isOneReason && first !== undefined ? `: ${reason(first)}` : '';
  return `${joinNames([...names, ...more])} ${isOlder ? 'could not' : 'cannot'} be reached${why}`;
}

/** "Repository and all 3 servers are" */
function reachableWords(hasRepository: boolean, reachable: number, total: number): string {
  if (total === 0) return 'The repository is';
  const servers = total === 1 ? 'the server' : total === 2 ? 'both servers' : `all ${reachable} servers`;
  if (hasRepository) return `Repository and ${servers} are`;
  return `${capitalised(servers)} ${areOrIs(total)}`;
}

function areOrIs(amount: number, isOlder = false): string {
  if (isOlder) return amount === 1 ? 'was' : 'were';
  return amount === 1 ? 'is' : 'are';
}

/** Thread reply to a failed deployment, with the unreachable parts and a button that tests the project again. */
export function diagnosisReply(account: string, project: ProjectRef, { at, items }: Diagnosis): Message {
  const failed = items.map((item) => ({ ...item, status: 'error' as const }));
  const again = button('Test again', 'test:again', { value: { target: { account, project }, failures: 0 } });
  return say(`Tested at ${timeOnly(at)}\n${itemLines(failed)}`, ...buttons(again));
}
