import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { button, buttons, say } from '../blocks/make-blocks.ts';

interface ShownRequest {
  user: string;
  role: string;
  command: string;
}

/** The direct message to an admin. */
export function accessRequestMessage({ user, role, command }: ShownRequest, id: string): Message {
  return say(
    `:raised_hand: <@${user}> asks for the role ${bold(role)}, to use ${code(command)}. With it they ${CAN[role] ?? 'can do more'}.`,
    ...buttons(
      button('Allow', 'access:allow', { style: 'primary', value: { id } }),
      button('Deny', 'access:deny', { style: 'danger', value: { id } }),
    ),
  );
}

const CAN: Readonly<Record<string, string>> = {
  admin: 'can do everything',
  operator: 'can change things at the service and in channels',
  billing: 'can see invoices',
};

/** Replaces the refusal; `admins` are ids. */
export function accessAskedMessage(role: string, admins: readonly string[]): Message {
  const who = admins.map((admin) => `<@${admin}>`).join(', ');
  return say(`:raised_hand: Asked ${who} for the role ${bold(role)}. The answer comes by direct message.`);
}

export function noAdminMessage(role: string, word: string): Message {
  return say(
    `No admin could be asked for the role ${bold(role)}. Ask an admin of this Slack workspace to run ${code(`${word} roles`)}.`,
  );
}

/** For a person who does not hold the role. */
export function askedAlreadyMessage(role: string, outcome: Outcome | undefined): Message {
  const answer = outcome?.isAllowed ? 'gave it to you, and somebody took it away since' : 'said no';
  const words = outcome === undefined ? 'No admin has answered yet.' : `<@${outcome.admin}> ${answer}.`;
  return say(`You asked for the role ${bold(role)} already today. ${words}`);
}

export function heldAlreadyMessage(role: string): Message {
  return say(`You hold the role ${bold(role)} now. Run the command again.`);
}

interface Outcome {
  admin: string;
  isAllowed: boolean;
}

/** Replaces the message to each admin. @param isHeld true if the person holds the role now */
export function answeredMessage(
  { user, role }: ShownRequest,
  { admin, isAllowed }: Outcome,
  isHeld: boolean,
): Message {
  const can = `They ${CAN[role] ?? 'hold it'} until an admin removes them in Roles.`;
  if (!isAllowed)
    return say(
      `:no_entry_sign: <@${admin}> did not give <@${user}> the role ${bold(role)}.${isHeld ? ` They hold it by now. ${can}` : ''}`,
    );
  return say(
    `:white_check_mark: <@${admin}> gave <@${user}> the role ${bold(role)}.${isHeld ? ` ${can}` : ' Somebody took it away since.'}`,
  );
}

/** Replaces the message to each admin if the person got the role in another way. */
export function heldByNowMessage({ user, role }: ShownRequest, word: string): Message {
  return say(
    `<@${user}> holds the role ${bold(role)} already, so your answer changed nothing. ${code(`${word} roles`)} takes roles away.`,
  );
}

export function personLeftMessage({ user, role }: ShownRequest): Message {
  return say(`<@${user}> can no longer use Deckhand here, so the role ${bold(role)} was not given.`);
}

export function requestOverMessage(word: string): Message {
  return say(`This request is no longer open. ${code(`${word} roles`)} gives roles.`);
}

export function accessAnswerMessage(
  { role, command }: ShownRequest,
  admin: string,
  isAllowed: boolean,
  word: string,
): Message {
  if (!isAllowed) return say(`<@${admin}> did not give you the role ${bold(role)}. Ask them why.`);
  return say(
    `:white_check_mark: <@${admin}> gave you the role ${bold(role)}. ${code(`${word} ${command}`)} works for you now.`,
  );
}
