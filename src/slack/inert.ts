import type { Message } from '../core/message.ts';
import { cut, withoutLiveAddresses } from '../core/mrkdwn.ts';

/** `chat.update` refuses longer ones. */
const MOST_TEXT = 4000;

/** The message as it leaves: Slack makes no link of a plain address in its `text`, which `response_url` has no option for. */
export function inert({ text, blocks }: Message): Message {
  return { text: cut(withoutLiveAddresses(text), MOST_TEXT), blocks };
}
