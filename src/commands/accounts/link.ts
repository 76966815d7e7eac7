import { z } from 'zod';
import { oauthClientOf } from '../../config.ts';
import { UserError } from '../../core/errors.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { linkMessage } from '../../views/accounts/link.ts';
import { startAddress } from '../../workspace/link-requests.ts';
import { type CommandContext, defineCommand } from '../command.ts';

export const link = defineCommand({
  name: 'link',
  summary: 'Links you to your own user at the deployment service, in your browser',
  usage: '',
  role: 'member',
  needsAccount: false,
  positionals: [],
  args: z.object({}),
  isAvailable: (config) => oauthClientOf(config) !== undefined,
  async run(_, context) {
    const { caller, workspace } = context;
    const { PUBLIC_URL, SLACK_COMMAND: word } = workspace.config;
    if (PUBLIC_URL === undefined)
      throw new UserError(
        'Linking needs an address that your browser can come back to. Whoever runs Deckhand must set `PUBLIC_URL` to it, and register that address with the service.',
      );
    const { user } = caller;
    const standing = await workspace.links.get(user);
    const ticket = await workspace.links.ask({
      user,
      name: await nameOf(context),
    });
    const url = startAddress(PUBLIC_URL, ticket);
    return { kind: 'private', message: linkMessage(url, standing, workspace.clock.now(), word) };
  },
});

/** As Slack shows the person; the page in the browser names them, if only by their id. */
async function nameOf({ caller, workspace }: CommandContext): Promise<string> {
  const { user } = caller;
  try {
    const answer = await workspace.slack.call('users.info', (client) => client.users.info({ user }));
    return answer.user?.real_name || answer.user?.name || user;
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return user;
  }
}
