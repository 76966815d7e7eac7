import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import type { Settings } from '../../core/settings.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import {
  linkGoneMessage,
  linkMessage,
  notLinkedMessage,
  unlinkedMessage,
} from '../../views/accounts/link.ts';
import { startAddress } from '../../workspace/link-requests.ts';
import { fromButton } from '../carried.ts';
import type { ActionContext, CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';

/** The operator registered Deckhand as an OAuth client of the service; its secret is required with the id. */
function isAvailable({ SERVICE_AUTH_URL, SERVICE_OAUTH_CLIENT_ID }: Settings): boolean {
  return SERVICE_AUTH_URL !== undefined && SERVICE_OAUTH_CLIENT_ID !== undefined;
}

export const link = defineCommand({
  name: 'link',
  summary: 'Links you to your own user at the deployment service, in your browser',
  role: 'member',
  isAvailable,
  async run(_, context) {
    const { caller, workspace } = context;
    const { PUBLIC_URL, SLACK_COMMAND: word } = workspace.config;
    if (PUBLIC_URL === undefined)
      throw new UserError(
        'Linking needs an address that your browser can come back to. Whoever runs Deckhand must set `PUBLIC_URL` to it, and register that address with the service.',
      );
    const { user } = caller;
    const standing = await workspace.links.get(user);
    const [name, workspaceName] = await Promise.all([nameOf(context), workspaceNameOf(context)]);
    const ticket = await workspace.links.ask({ user, name, workspaceName });
    const url = startAddress(PUBLIC_URL, ticket);
    return { kind: 'private', message: linkMessage(url, standing, workspace.clock.now(), word) };
  },
  actions: [{ actionId: 'link:undo', role: 'member', durable: true, run: undoLink }],
});

const UndoValue = z.object({ linkedAt: z.number() });

/** Removes the link that the message was about, and no later one. */
async function undoLink(value: string | undefined, { caller, workspace }: ActionContext): Promise<Reply> {
  const { linkedAt } = fromButton(UndoValue, value);
  if (!(await workspace.links.remove(caller.user, linkedAt)))
    return { kind: 'replace', message: linkGoneMessage(workspace.config.SLACK_COMMAND) };
  return { kind: 'replace', message: unlinkedMessage(), audit: { what: 'unlink' } };
}

/** As Slack calls the workspace; the page in the browser names it, if only by its id. */
async function workspaceNameOf({ workspace }: CommandContext): Promise<string> {
  try {
    return (await workspace.slack.call('auth.test', {})).team ?? workspace.id;
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return workspace.id;
  }
}

/** As Slack shows the person; the page in the browser names them, if only by their id. */
async function nameOf({ caller, workspace }: CommandContext): Promise<string> {
  const { user } = caller;
  try {
    const answer = await workspace.slack.call('users.info', { user });
    return answer.user?.real_name || answer.user?.name || user;
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return user;
  }
}

export const unlink = defineCommand({
  name: 'unlink',
  summary: 'Deletes your link to your user at the service',
  role: 'member',
  durable: true,
  isAvailable,
  async run(_, { caller, workspace }) {
    const { user } = caller;
    if (!(await workspace.links.remove(user)))
      return { kind: 'private', message: notLinkedMessage(workspace.config.SLACK_COMMAND) };
    return { kind: 'private', message: unlinkedMessage(), audit: {} };
  },
});
