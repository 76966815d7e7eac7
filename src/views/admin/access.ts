import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { button, buttons, say } from '../blocks/message.ts';

interface ShownRequest {
  user: string;
  role: string;
  command: string;
}

/** What an admin reads by direct message. */
export function accessRequestMessage({ user, role, command }: ShownRequest, id: string): Message {
  return say(
    `:raised_hand: <@${user}> asks for the role ${bold(role)}, to use ${code(command)}.`,
    ...buttons(
      button('Allow', 'access:allow', {
        style: 'primary',
        value: { id },
      }),
      button('Deny', 'access:deny', { style: 'danger', value: { id } }),
    ),
  );
}

const CAN: Readonly<Record<string, string>> = {
  admin: 'can do everything',
  operator: 'can change things at the service and in channels',
  billing: 'can see invoices',
};

/** In place of the refusal; `admins` are ids. */
export function accessAskedMessage(role: string, admins: readonly string[]): Message {
  const who = admins.map((admin) => `<@${admin}>`).join(', ');
  return say(`:raised_hand: Asked ${who} for the role ${bold(role)}. The answer comes by direct message.`);
}

export function noAdminMessage(role: string, word: string): Message {
  return say(
    `No admin could be asked for the role ${bold(role)}. Ask an admin of this Slack workspace to run ${code(`${word} roles`)}.`,
  );
}

export function askedAlreadyMessage(
  role: string,
  outcome: { by: string; isAllowed: boolean } | undefined,
): Message {
  const answer = outcome === undefined ? 'No admin has answered yet.' : `<@${outcome.by}> said no.`;
  return say(`You asked for the role ${bold(role)} already today. ${answer}`);
}

export function heldAlreadyMessage(role: string): Message {
  return say(`You hold the role ${bold(role)} now. Run the command again.`);
}

/** On the message of every admin who was asked. */
export function answeredMessage({ user, role }: ShownRequest, by: string, isAllowed: boolean): Message {
  if (!isAllowed) return say(`:no_entry_sign: <@${by}> did not give <@${user}> the role ${bold(role)}.`);
  return say(
    `:white_check_mark: <@${by}> gave <@${user}> the role ${bold(role)}. They ${CAN[role] ?? 'hold it'} until an admin removes them in Roles.`,
  );
}

export function askerLeftMessage({ user, role }: ShownRequest): Message {
  return say(`<@${user}> can no longer use Deckhand here, so the role ${bold(role)} was not given.`);
}

export function requestOverMessage(word: string): Message {
  return say(`This request is more than a day old. ${code(`${word} roles`)} gives roles.`);
}

/** To the person who asked. */
export function accessAnswerMessage(
  { role, command }: ShownRequest,
  by: string,
  isAllowed: boolean,
  word: string,
): Message {
  if (!isAllowed) return say(`<@${by}> did not give you the role ${bold(role)}. Ask them why.`);
  return say(
    `:white_check_mark: <@${by}> gave you the role ${bold(role)}. ${code(`${word} ${command}`)} works for you now.`,
  );
}
