import type { Message } from '../core/message.ts';
import { mrkdwn } from '../core/mrkdwn.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import { readRealName } from '../workspace/slack-people.ts';
import type { Workspace } from '../workspace/workspace.ts';

const MENTION = /<@([UW][A-Z0-9]+)>/g;

/** Replaces mentions of people who may no longer use Deckhand with their plain names. */
export async function nameExcluded(workspace: Workspace, message: Message): Promise<Message> {
  const text = JSON.stringify(message);
  const names = new Map<string, string>();
  for (const [, user = ''] of text.matchAll(MENTION))
    if (!names.has(user) && !(await mayBeMentioned(workspace, user)))
      names.set(user, await readName(workspace, user));
  return names.size === 0 ? message : withNames(message, names);
}

/** @throws SlackFailure if asking again may help */
async function mayBeMentioned({ roles }: Workspace, user: string): Promise<boolean> {
  const checked = roles.excluded(user).then((excluded) => excluded ?? 'allowed');
  return (await undefinedOnSlackError(checked, 'gone', 'forbidden', 'rejected')) === 'allowed';
}

async function readName(workspace: Workspace, user: string): Promise<string> {
  const name = (await workspace.names.findName(user)) ?? (await readRealName(workspace, user));
  return mrkdwn(name ?? 'somebody', 60);
}

function withNames({ fallback, ...content }: Message, names: ReadonlyMap<string, string>): Message {
  const text = JSON.stringify(content).replace(MENTION, (mention, user: string) => {
    const name = names.get(user);
    return name === undefined ? mention : JSON.stringify(name).slice(1, -1);
  });
  const named = JSON.parse(text) as Message;
  if (fallback === undefined) return named;
  return { ...named, fallback: () => withNames(fallback(), names) };
}
