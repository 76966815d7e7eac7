import type { Message } from '../../core/message.ts';
import { describeList } from '../../core/message-text.ts';
import { code, count, joinFirst, mrkdwn, timeBefore } from '../../core/mrkdwn.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { namePerson, revisionWords, rewindWords } from '../activity/activity-message.ts';
import { listBlocks, packed } from '../blocks/lists.ts';
import { context } from '../blocks/make-blocks.ts';

/** Lines in a message. */
export const MAX_SUCCESS_LINES = 20;
/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_SECTIONS = 3;
const MAX_SERVERS = 5;

/**
 * "*Storefront*: `1aca834` on web-1 by Priya Nand, 09:09", with the day if that was long ago; mrkdwn.
 * @param name mrkdwn for the project
 */
export function successLine(
  event: ActivityEvent,
  findMentioned: (name: string) => string | undefined,
  { name, now }: { name: string; now: number },
): string {
  const { properties, created_at: at } = event;
  const time = timeBefore(Date.parse(at), now);
  const [revision, author] = revisionWords(event, (person) => namePerson(person, findMentioned));
  const servers = properties.servers.map((server) => mrkdwn(server, 24));
  const where = servers.length === 0 ? '' : `on ${joinFirst(servers, MAX_SERVERS)}`;
  const what = [revision || 'a deployment', where, author].filter(Boolean).join(' ');
  return [`${name}: ${what}, ${time}`, ...rewindWords(event)].join('  ');
}

/** True if a message has room for one line more. */
export function hasRoomForSuccess(lines: readonly string[], line: string): boolean {
  return lines.length < MAX_SUCCESS_LINES && packed([...lines, line]).length <= MAX_SECTIONS;
}

/** The successful deployments of an account, a line each. */
export function successMessage(account: string, isAccountShown: boolean, lines: readonly string[]): Message {
  const title = `${count(lines.length, 'deployment')} succeeded${isAccountShown ? ` in ${code(account)}` : ''}`;
  return {
    text: describeList(title, lines),
    isTextWhole: true,
    blocks: [
      ...listBlocks(lines),
      context(`:white_check_mark: ${title}`, !isAccountShown && `Activity of ${code(account)}`),
    ],
  };
}
