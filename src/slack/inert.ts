import type { Message } from '../core/message.ts';
import { cut, withoutLiveAddresses } from '../core/mrkdwn.ts';

/** `chat.update` refuses longer ones. */
const MOST_TEXT = 4000;

/** The message as it leaves: Slack makes no link of a plain address in its `text`, which `response_url` has no option for. */
export function inert(message: Message): Message {
  return { ...message, text: cut(withoutLiveAddresses(message.text), MOST_TEXT) };
}
