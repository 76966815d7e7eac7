import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Settings } from '../../core/settings.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import {
  linkGoneMessage,
  linkMessage,
  notLinkedMessage,
  unlinkedMessage,
} from '../../views/accounts/identity.ts';
import { startAddress } from '../../workspace/installations.ts';
import { defineCommand, fromButton } from '../command.ts';

/** The operator registered Deckhand as an OAuth client of the service; its secret is required with the id. */
function isAvailable({ SERVICE_AUTH_URL, SERVICE_OAUTH_CLIENT_ID }: Settings): boolean {
  return SERVICE_AUTH_URL !== undefined && SERVICE_OAUTH_CLIENT_ID !== undefined;
}

export const link = defineCommand({
  name: 'link',
  summary: 'Links you to your own user at the deployment service, in your browser',
  role: 'member',
  isAvailable,
  async run(_, { caller, workspace }) {
    const { PUBLIC_URL } = workspace.config;
    if (PUBLIC_URL === undefined)
      throw new UserError(
        'Linking needs an address that your browser can come back to. Whoever runs Deckhand must set `PUBLIC_URL` to it, and register that address with the service.',
      );
    const { user } = caller;
    const { slack } = workspace;
    const existing = await workspace.links.get(user);
    const [person, team] = await Promise.all([
      undefinedOnSlackError(slack.call('users.info', { user })),
      undefinedOnSlackError(slack.call('auth.test', {})),
    ]);
    const { real_name, name, profile } = person?.user ?? {};
    const scopes = team?.response_metadata?.scopes;
    const ticket = await workspace.links.ask({
      user,
      name: real_name || name || user,
      workspaceName: team?.team || workspace.id,
      ...defined({ email: profile?.email, lacksScope: scopes && !scopes.includes('users:read.email') }),
    });
    const url = startAddress(PUBLIC_URL, ticket);
    return { kind: 'private', message: linkMessage(url, existing, workspace.clock.now(), workspace.word) };
  },
  actions: [
    {
      actionId: 'link:undo',
      durable: true,
      // Removes the link that the message was about, and no later one.
      async run(value, { caller, workspace }) {
        const { linkedAt } = fromButton(UndoValue, value);
        const wasThere = await workspace.links.remove(caller.user, linkedAt);
        const message = wasThere ? unlinkedMessage() : linkGoneMessage(workspace.word);
        return { kind: 'replace', message, ...(wasThere && { audit: { what: 'unlink' } }) };
      },
    },
  ],
});

const UndoValue = z.object({ linkedAt: z.number() });

export const unlink = defineCommand({
  name: 'unlink',
  summary: 'Deletes your link to your user at the service',
  role: 'member',
  durable: true,
  isAvailable,
  async run(_, { caller, workspace }) {
    const wasThere = await workspace.links.remove(caller.user);
    const message = wasThere ? unlinkedMessage() : notLinkedMessage(workspace.word);
    return { kind: 'private', message, ...(wasThere && { audit: {} }) };
  },
});
