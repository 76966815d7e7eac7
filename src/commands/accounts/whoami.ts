import { z } from 'zod';
import { getProfile } from '../../service/profile.ts';
import { linkLine } from '../../views/accounts/link.ts';
import { profileMessage } from '../../views/accounts/profile.ts';
import { GIVEN_ROLES } from '../../workspace/roles.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'Shows whose key the account is used with, and what you may do here',
  usage: '',
  role: 'member',
  needsAccount: true,
  positionals: [],
  args: z.object({}),
  async run(_, context) {
    const { caller, deckhand } = context;
    const account = await accountOf(context);
    const [profile, roles, link] = await Promise.all([
      deckhand.accounts.use(caller.workspace, account, (client) => getProfile(client)),
      rolesOf(context),
      linkOf(context),
    ]);
    return {
      kind: 'private',
      message: profileMessage({
        profile,
        account: account.name,
        keyTail: account.keyTail,
        roles,
        link,
      }),
    };
  },
});

/** Undefined where linking is not configured. */
async function linkOf({ caller, deckhand }: CommandContext): Promise<string | undefined> {
  if (deckhand.service.oauth === undefined) return undefined;
  const link = await deckhand.links.get(caller.workspace, caller.user);
  return linkLine(link, deckhand.clock.now(), deckhand.config.SLACK_COMMAND);
}

async function rolesOf({ caller, deckhand }: CommandContext): Promise<string[]> {
  const { workspace, user } = caller;
  const held = await Promise.all(GIVEN_ROLES.map((role) => deckhand.roles.holds(workspace, user, role)));
  return GIVEN_ROLES.filter((_, at) => held[at]);
}
