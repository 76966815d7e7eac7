import type { Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { channelInput } from '../blocks/inputs.ts';
import { button, buttons, say, section } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';

export const SETUP_MOVE = 'setup.move';

/** Asks for the channel. @param origin the channel whose set-up moves */
export function moveModal(origin: { channel: string }): ModalView {
  return modal(SETUP_MOVE, 'Move to a channel', { submit: 'Move', metadata: origin }, [
    section(
      `Everything that is set up in <#${origin.channel}> moves: watches, guards, digests, invoice notices and settings. Open failures get a message there.`,
    ),
    channelInput('channel', 'To', { hint: 'You and Deckhand have to be in it.' }),
  ]);
}

/** Offers the form to a person whose words name no channel that Deckhand can find. */
export function chooseChannelMessage(typed: string): Message {
  const choose = button('Choose the channel', 'setup:move', { style: 'primary', value: {} });
  return say(`Deckhand does not know which channel ${code(typed, 80)} is.`, ...buttons(choose));
}
