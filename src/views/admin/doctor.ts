import type { Message } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { listBlocks } from '../blocks/lists.ts';
import { headed } from '../blocks/message.ts';

/** `limited`: nothing is broken, but something is forbidden or unknown. */
export type Health = 'well' | 'limited' | 'broken';

export interface Finding {
  /** Name of the checked thing; escaped mrkdwn. */
  what: string;
  health: Health;
  /** Escaped mrkdwn. */
  text: string;
}

const MARKS: Record<Health, string> = {
  well: ':white_check_mark:',
  limited: ':information_source:',
  broken: ':x:',
};

export function doctorMessage(findings: readonly Finding[]): Message {
  const faults = findings.filter(({ health }) => health === 'broken').length;
  const isAllWell = findings.every(({ health }) => health === 'well');
  const title =
    faults > 0 ? `${count(faults, 'problem')} found` : isAllWell ? 'Everything works' : 'Nothing is broken';
  const lines = findings.map(({ what, health, text }) => `${MARKS[health]} *${what}*  ${text}`);
  return headed(title, ...listBlocks(lines));
}
