import type { ServiceError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Profile } from '../../service/profile.ts';
import { menuTarget, targetId } from '../blocks/inputs.ts';
import { button, buttons, linkButton, notes, safeUrl, say, section } from '../blocks/make-blocks.ts';
import { addReasons } from '../blocks/service-failures.ts';
import { factLines } from './server.ts';

/**
 * Tells whether the account may create managed servers, with both eligibility flags.
 * @param account its name in its address
 * @param mayEnroll true if the reader may enrol it
 */
export function betaMessage(account: string, profile: Profile, mayEnroll: boolean, word: string): Message {
  const {
    beta_features: isOn,
    static_hosting_eligible: site,
    managed_vps_eligible: machine,
  } = profile.account;
  const text = `The beta of managed servers is *${isOn ? 'on' : 'off'}* for ${bold(profile.account.name || account)}.`;
  const facts = factLines([
    ['Static hosting', flagWords(site)],
    ['Managed servers', flagWords(machine)],
  ]);
  const next = isOn ? notes(describeServerAdd(word)) : enrollBlocks(account, mayEnroll);
  return say(text, section(facts), ...next);
}

/** The service cannot undo it. */
export const ENROLL_CONFIRMATION = {
  title: 'Enrol the account?',
  text: 'Everyone in the account gets the beta’s features. It cannot be undone.',
  confirm: 'Enrol',
};

function enrollBlocks(account: string, mayEnroll: boolean): KnownBlock[] {
  const enroll = { style: 'primary', value: { account }, confirm: ENROLL_CONFIRMATION } as const;
  if (mayEnroll) return buttons(button('Enrol', 'beta:enroll', enroll));
  return [section('An admin can enrol the account. Ask one:'), ...handOverBlocks(account, undefined)];
}

/** Asks for a confirmation before an account is enrolled. @param protocol the typed one; undefined for all */
export function enrollQuestion(account: string, protocol: string | undefined): Message {
  const what = protocol === undefined ? '' : ` for ${code(protocol)}`;
  return say(
    `Enrol the account ${code(account)} in the beta of managed servers${what}? ${ENROLL_CONFIRMATION.text}`,
    ...buttons(button('Enrol', 'beta:enroll', { style: 'primary', value: { account, protocol } })),
  );
}

/** `already`: the account was enrolled before, so nothing changed; `off`: the service did not enrol it. */
export type Enrolled = 'new' | 'already' | 'off';

export function enrolledMessage(account: string, outcome: Enrolled, word: string): Message {
  const name = code(account);
  const words: Record<Enrolled, string> = {
    new: `:white_check_mark: The account ${name} is enrolled in the beta of managed servers.`,
    already: `:information_source: The account ${name} is in the beta already.`,
    off: `:warning: The service accepted the request, but says that the beta is still off for ${name}. ${code(`${word} beta`)} checks again.`,
  };
  return say(words[outcome], ...notes(outcome !== 'off' && describeServerAdd(word)));
}

function describeServerAdd(word: string): string {
  return `Create a managed server with ${code(`${word} server add`)}.`;
}

/** The service answered `admin_required`. Offers the page for an admin, and a menu of people to notify. */
export function handOverMessage(account: string, refused: ServiceError): Message {
  return say(handOverWords(account, refused), ...handOverBlocks(account, refused.betaUrl));
}

export function handOverWords(account: string, refused: ServiceError): string {
  const text = `:lock: Only an administrator of the account ${code(account)} can enable the beta.`;
  return `${text}${addReasons(text, refused)}`;
}

/** The page on which an admin enables the beta, and a menu that notifies the chosen person. */
export function handOverBlocks(account: string, betaUrl: string | undefined): KnownBlock[] {
  const open = linkButton('Open the beta page', 'link:beta', betaUrl, 'primary');
  const block_id = targetId({ account, url: open?.url }) ?? targetId({ account });
  const placeholder = { type: 'plain_text', text: 'Ask an admin' } as const;
  const people = { type: 'users_select', action_id: 'beta:tell', placeholder } as const;
  return [{ type: 'actions', ...defined({ block_id }), elements: [...(open ? [open] : []), people] }];
}

/** Reads account and page from the menu's `block_id`; undefined for any other block. */
export function readHandOver(blockId: string): { account: string; betaUrl: string | undefined } | undefined {
  const { account, url } = menuTarget(blockId) ?? {};
  return account === undefined ? undefined : { account, betaUrl: safeUrl(url) };
}

/** Direct message to the chosen admin. */
export function askedToEnrollMessage(
  account: string,
  betaUrl: string | undefined,
  requestedBy: string,
  word: string,
): Message {
  const open = linkButton('Open the beta page', 'link:beta', betaUrl);
  const text = `:wave: <@${requestedBy}> asks you to enable the beta of managed servers for the account ${code(account)}. An administrator of the account can do it${open === undefined ? ' in its settings' : ' on its page'}, or run ${code(`${word} beta enroll --account ${account}`, 120)} if an administrator’s key is connected.`;
  return say(text, ...buttons(open));
}

function flagWords(isEligible: boolean | undefined): string {
  if (isEligible === undefined) return 'not given by the service';
  return isEligible ? ':white_check_mark: eligible' : ':x: not eligible';
}
