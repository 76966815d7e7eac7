import type { ServiceError } from '../../core/errors.ts';
import type { KnownBlock, ModalView } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import { button, buttons, context, section } from '../blocks/message.ts';
import { modal, notice } from '../blocks/modal.ts';
import { ENROLL_CONFIRMATION, handOverBlocks, handOverWords } from './beta.ts';
import { addressWords, type Draft, SERVER_ADD, SERVER_ADD_TITLE, type Wanted } from './form.ts';
import { type Fact, factLines } from './server.ts';

/** The last step before something is created that costs money: everything that was chosen, and the total. */
export function confirmServerModal(
  draft: Draft & { project: { name: string }; wanted: Wanted },
  sitesDomain: string | undefined,
): ModalView {
  const { wanted, project, account } = draft;
  const facts: Fact[] = [
    ['Name', mrkdwn(wanted.name)],
    ['Project', `${mrkdwn(project.name)} of ${code(account)}`],
    ...wantedFacts(wanted, sitesDomain),
    ['Price', draft.cost === undefined ? 'not given by the service' : `*${mrkdwn(draft.cost)}*`],
  ];
  return modal(SERVER_ADD, SERVER_ADD_TITLE, { submit: 'Create', metadata: draft }, [
    section('Create this server?'),
    section(factLines(facts)),
    ...buttons(button('Change something', 'server.add:back')),
    context('Nothing is created before you press *Create*. It is billed by the service from then on.'),
  ]);
}

function wantedFacts(wanted: Wanted, sitesDomain: string | undefined): Fact[] {
  if (wanted.protocol_type === 'managed_vps')
    return [
      ['Kind', 'Managed VPS'],
      ['Region', code(wanted.region)],
      ['Size', code(wanted.size)],
    ];
  return [
    ['Kind', 'Static hosting'],
    ['Address', addressWords(wanted.subdomain, sitesDomain)],
    ['Single-page app', wanted.spa_mode ? 'yes' : 'no'],
  ];
}

/** The account is not in the beta: enrolling is offered right here. */
export function enrollFirstModal(draft: Draft, mayEnroll: boolean): ModalView {
  const said = `The account ${code(draft.account)} is not enrolled in the managed-resources beta, so it cannot have managed servers yet.`;
  const next = mayEnroll
    ? buttons(button('Enrol now', 'server.add:enroll', { style: 'primary', confirm: ENROLL_CONFIRMATION }))
    : [section('An admin can enrol it. Ask one:'), ...handOverBlocks(draft.account, undefined)];
  return endModal(draft, said, next);
}

/** The service answered `admin_required`, in the modal. */
export function handOverModal(draft: Draft, refused: ServiceError): ModalView {
  const { account } = draft;
  return endModal(draft, handOverWords(account, refused), handOverBlocks(account, refused.betaUrl));
}

/** The form does not go on before something else is done. */
function endModal(draft: Draft, said: string, next: readonly KnownBlock[]): ModalView {
  const blocks = [section(said), ...next];
  return modal(SERVER_ADD, SERVER_ADD_TITLE, { close: 'Close', metadata: draft }, blocks);
}

export function creatingNotice(name: string): ModalView {
  const said = `:hourglass_flowing_sand: Asking the service for ${bold(name)}… You can close this; the channel shows the outcome.`;
  return notice(SERVER_ADD_TITLE, said);
}

/** @param isInChannel false where Slack took its message as a direct message alone */
export function createdNotice(name: string, isInChannel: boolean): ModalView {
  const where = isInChannel
    ? 'The channel shows its progress.'
    : 'Deckhand cannot post in the channel, so its progress is in your direct messages.';
  const said = `:white_check_mark: The service has accepted the order for ${bold(name)}. ${where}`;
  return notice(SERVER_ADD_TITLE, said);
}

/** It is not known whether the server was created: says so, and how to check. Mrkdwn. */
export function unknownOutcomeWords(
  { wanted, project }: { wanted: Wanted; project: { permalink: string } },
  why: 'interrupted' | 'no answer',
  word: string,
): string {
  const because =
    why === 'interrupted'
      ? 'Deckhand was stopped while it asked the service'
      : 'The service did not give a proper answer when it was asked';
  const show = code(`${word} server show "${wanted.name}" ${project.permalink}`, 200);
  const list = code(`${word} hosting list`);
  const check = wanted.protocol_type === 'managed_vps' ? `${list} or ${show}` : show;
  return `:warning: ${because} to create ${bold(wanted.name)}, so it is not known whether it was created. It is not tried again automatically. Check first with ${check}.`;
}
