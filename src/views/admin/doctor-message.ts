import type { Message } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { listBlocks } from '../blocks/lists.ts';
import { headed } from '../blocks/make-blocks.ts';

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

const HEALTHS = ['broken', 'limited', 'well'] as const satisfies Health[];

export function doctorMessage(findings: readonly Finding[]): Message {
  const faults = findings.filter(({ health }) => health === 'broken').length;
  const isAllWell = findings.every(({ health }) => health === 'well');
  const title =
    faults > 0 ? `${count(faults, 'problem')} found` : isAllWell ? 'Everything works' : 'Nothing is broken';
  // Problems first, because nobody hears the marks.
  const ordered = HEALTHS.flatMap((health) => findings.filter((finding) => finding.health === health));
  const lines = ordered.map(({ what, health, text }) => `${MARKS[health]} *${what}*  ${text}`);
  return headed(title, ...listBlocks(lines));
}
