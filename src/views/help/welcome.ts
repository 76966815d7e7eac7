import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { section } from '../blocks/message.ts';
import { type StartView, startMessage } from './start.ts';

/** For whoever installed Deckhand: what it is, and the first step. */
export function welcomeMessage(view: StartView): Message {
  const first = startMessage(view);
  const said = `:anchor: Deckhand is installed. Until ${code(`${view.word} roles`)} says otherwise, you and the admins of this workspace may do everything; invite me to a channel with \`/invite\`.`;
  return { text: `${said} ${first.text}`, blocks: [section(said), ...first.blocks] };
}
