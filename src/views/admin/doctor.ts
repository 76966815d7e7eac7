import type { Message } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { header, section } from '../blocks/message.ts';

export interface Finding {
  /** The thing checked; mrkdwn, escaped. */
  what: string;
  isWell: boolean;
  /** Mrkdwn, escaped. */
  said: string;
}

export function doctorMessage(findings: readonly Finding[]): Message {
  const faults = findings.filter((finding) => !finding.isWell).length;
  const title = faults === 0 ? 'Everything works' : `${count(faults, 'problem')} found`;
  const lines = findings.map(
    ({ what, isWell, said }) => `${isWell ? ':white_check_mark:' : ':x:'} *${what}*  ${said}`,
  );
  return { text: title, blocks: [header(title), section(lines.join('\n'))] };
}
