import type { Client } from '../api/client.ts';
import type { Command } from '../api/types.ts';
import { splitCommand } from '../composer/completions.ts';

/**
 * Sends what was typed: a command of an app, or a message.
 * @returns what to tell the person when it did not go through
 */
export async function say(
  client: Client,
  commands: readonly Command[],
  channel: string,
  text: string,
  threadTs?: string,
): Promise<string | undefined> {
  const command = splitCommand(text, commands);
  if (command !== undefined) {
    const answer = await client.command(channel, command.command, command.rest, threadTs);
    return answer.ok ? undefined : commandFault(command.command, answer.error);
  }
  if (/^\/[a-z]/i.test(text)) return `${text.split(/\s/)[0]} is not a valid command.`;
  const answer = await client.send(channel, text, threadTs);
  return answer.ok ? undefined : `The message was not sent: ${answer.error ?? 'no answer'}.`;
}

function commandFault(command: string, error = 'no_answer'): string {
  return `${command} failed with the error “${error}”.`;
}
