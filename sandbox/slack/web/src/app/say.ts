import type { Client } from '../api/client.ts';
import { splitCommand } from '../composer/completions.ts';
import type { Directory } from '../state/directory.ts';

interface Where {
  channel: string;
  thread?: string;
}

/**
 * Sends what was typed: a command of an app, or a message.
 * @returns what to tell the person when it did not go through
 */
export async function say(
  client: Client,
  directory: Directory,
  { channel, thread }: Where,
  text: string,
): Promise<string | undefined> {
  const command = splitCommand(text, directory.team.commands);
  if (command !== undefined) {
    const answer = await client.command(channel, command.command, command.rest, thread);
    return answer.ok ? undefined : commandFault(command.command, answer.error ?? 'no_answer');
  }
  if (/^\/[a-z]/i.test(text)) return `${text.split(/\s/)[0]} is not a valid command.`;
  const answer = await client.send(channel, text, thread);
  return answer.ok ? undefined : `The message was not sent: ${answer.error ?? 'no answer'}.`;
}

const ownFaults: Readonly<Record<string, (command: string) => string>> = {
  not_supported_in_threads: (command) => `${command} is not supported in threads. Sorry!`,
  workspace_unreachable: (command) => `${command} was not sent: the workspace cannot be reached.`,
};

/** What the app did wrong is said in the conversation by Slackbot; here stands only what never got that far. */
function commandFault(command: string, error: string): string | undefined {
  const known = ownFaults[error];
  if (known !== undefined) return known(command);
  return error.includes(' ') ? error : undefined;
}
