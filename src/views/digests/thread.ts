import type { KnownBlock, Message, Refusal } from '../../core/message.ts';
import { asClause, count } from '../../core/mrkdwn.ts';
import { feedBlocks, subjectWords } from '../activity/activity.ts';
import { inPages } from '../blocks/lists.ts';
import { say, section } from '../blocks/message.ts';
import { explainPolicy } from '../blocks/slack-failures.ts';
import type { AccountReport } from './digest.ts';

/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_CHARACTERS = 9_000;
const MAX_BLOCKS = 40;
const MAX_REPLIES = 4;

/** Why words stand for a chart. */
export function pictureRefusedMessage({ reason }: Refusal): Message {
  const policy = explainPolicy(reason);
  if (policy === undefined) return say(':warning: The chart is in words, because Slack refused its picture.');
  return say(`:warning: The chart is in words, because ${asClause(policy.text)}. ${policy.next}`);
}

/** The events of each account as thread replies, by day; what is too long for a few replies is cut, with a note. */
export function threadMessages(
  reports: readonly AccountReport[],
  { zone, project }: { zone: string; project?: { name: string } | undefined },
): Message[] {
  return reports.flatMap((report) => {
    if (report.kind === 'failed' || report.activity.events.length === 0) return [];
    const { events } = report.activity;
    const of = subjectWords(report.account, project);
    const title = `${count(events.length, 'event')} of ${of}${report.data.isCut ? ', the latest that the service lists' : ''}`;
    const blocks = [section(`*Events*  ${title}`), ...feedBlocks(events, zone)];
    const pages = inPages(blocks, { most: MAX_BLOCKS, room: MAX_CHARACTERS }, lengthOf);
    return pages.slice(0, MAX_REPLIES).map((blocks, at): Message => {
      const isCut = at === MAX_REPLIES - 1 && pages.length > MAX_REPLIES;
      return { text: title, blocks: isCut ? [...blocks, section('_and more, earlier_')] : blocks };
    });
  });
}

function lengthOf(block: KnownBlock): number {
  return JSON.stringify(block).length;
}
