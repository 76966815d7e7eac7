import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { button, buttons, context, say } from '../blocks/message.ts';

interface Suggestion {
  text: string;
  isDurable: boolean;
}

/**
 * For words that are no command: what may have been meant.
 * @param said why it is asked; mrkdwn, escaped
 * @param thread the message in whose thread a mention is answered
 */
export function suggestionsMessage(
  word: string,
  suggestions: readonly Suggestion[],
  {
    said = 'Which of these did you mean?',
    thread,
  }: { said?: string | undefined; thread?: string | undefined },
): Message {
  return say(
    said,
    ...buttons(
      ...suggestions.map(({ text, isDurable }, at) =>
        button(text, `${isDurable ? 'start:run' : 'start:at-once'}#${at}`, { value: { text, thread } }),
      ),
    ),
    context(`${code(`${word} help`)} lists all commands.`),
  );
}

/** A form opens only at a click, so a mention is answered with the button for it; what comes of it stands in `thread`. */
export function openFormMessage(word: string, text: string, thread: string | undefined): Message {
  const open = button('Open the form', 'start:at-once', { style: 'primary', value: { text, thread } });
  return say(`${code(`${word} ${text}`)} goes on in a form.`, ...buttons(open));
}
