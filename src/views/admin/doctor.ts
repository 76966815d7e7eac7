import type { Message } from '../../core/message.ts';
import { count } from '../../core/mrkdwn.ts';
import { inPages } from '../blocks/lists.ts';
import { headed, section } from '../blocks/message.ts';

/** `limited`: nothing is broken, but something is not allowed or not known. */
export type Health = 'well' | 'limited' | 'broken';

export interface Finding {
  /** The thing checked; mrkdwn, escaped. */
  what: string;
  health: Health;
  /** Mrkdwn, escaped. */
  said: string;
}

const MARKS: Record<Health, string> = {
  well: ':white_check_mark:',
  limited: ':information_source:',
  broken: ':x:',
};
/** Each finding is a sentence or two, so that these fit into one section. */
const LINES_A_SECTION = 8;
const MAX_SECTIONS = 40;

export function doctorMessage(findings: readonly Finding[]): Message {
  const faults = findings.filter(({ health }) => health === 'broken').length;
  const title = faults === 0 ? 'Everything works' : `${count(faults, 'problem')} found`;
  const lines = findings.map(({ what, health, said }) => `${MARKS[health]} *${what}*  ${said}`);
  const pages = inPages(lines, { most: LINES_A_SECTION }).slice(0, MAX_SECTIONS);
  return headed(title, ...pages.map((page) => section(page.join('\n'))));
}
