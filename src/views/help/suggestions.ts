import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { buttons, context, say } from '../blocks/message.ts';

interface Suggestion {
  text: string;
  isDurable: boolean;
}

/** For a mention whose words are no command: what may have been meant. */
export function suggestionsMessage(word: string, suggestions: readonly Suggestion[]): Message {
  return say(
    'Which of these did you mean?',
    ...buttons(
      ...suggestions.map(({ text, isDurable }, at) => ({
        label: text,
        actionId: `${isDurable ? 'start:run' : 'start:at-once'}#${at}`,
        value: { text },
      })),
    ),
    context(`${code(`${word} help`)} lists all commands; a mention takes the same words.`),
  );
}

/** A form opens only at a click, so a mention is answered with the button for it. */
export function openFormMessage(word: string, text: string): Message {
  const open = {
    label: 'Open the form',
    actionId: 'start:at-once',
    style: 'primary',
    value: { text },
  } as const;
  return say(`${code(`${word} ${text}`)} goes on in a form.`, ...buttons(open));
}
