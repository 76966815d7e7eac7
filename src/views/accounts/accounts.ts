import type { Message } from '../../core/message.ts';
import { bold, code, linesWithin, mrkdwn } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { context, header, say, section } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';

interface ShownAccount {
  name: string;
  email: string;
  keyTail: string;
  state: 'ok' | 'unverified' | 'broken';
  connectedBy: string;
  connectedAt: number;
}

/** The state of a connection, in mrkdwn. */
export const HEALTH = {
  ok: ':white_check_mark: works',
  unverified: ':hourglass_flowing_sand: waiting for its e-mail to be verified',
  broken: ':x: the key was revoked or rotated',
} as const;

export function accountsMessage(
  accounts: readonly ShownAccount[],
  defaultName: string | undefined,
  word: string,
): Message {
  if (accounts.length === 0)
    return say(`No account is connected. An admin can run ${code(`${word} connect`)}.`);
  const lines = accounts.map((account) => {
    const isDefault = account.name === defaultName ? '  _default_' : '';
    return [
      `${bold(account.name)}${isDefault}  ${HEALTH[account.state]}`,
      `key ${code(maskedKey(account.keyTail))} of ${mrkdwn(account.email, 100)}, connected by <@${account.connectedBy}> ${dateTime(account.connectedAt)}`,
    ].join('\n');
  });
  return {
    text: 'Connected accounts',
    blocks: [
      header('Connected accounts'),
      section(linesWithin(lines, LIMITS.sectionText)),
      context(`Add ${code('--account <name>')} to a command to use an account other than the default.`),
    ],
  };
}

/** A key is only ever shown as its last four characters. */
export function maskedKey(tail: string): string {
  return `••••${tail}`;
}
