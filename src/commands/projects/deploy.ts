import { z } from 'zod';
import { accountUrl } from '../../service/addresses.ts';
import { deployMessage } from '../../views/projects/projects.ts';
import { defineCommand } from '../command.ts';

/** People try it; the service's interface has no way to deploy. */
export const deploy = defineCommand({
  name: 'deploy',
  summary: 'Says where deployments and rollbacks are started: Deckhand starts none',
  role: 'member',
  takesAccount: true,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async run(_, { caller, workspace, account: named }) {
    const { account: bound, project } = await workspace.channels.get(caller.channel);
    const accounts = await workspace.accounts.list(caller);
    const account =
      accounts.length === 0 ? undefined : await workspace.accounts.resolve(caller, named, bound);
    const url = account && accountUrl(account.name, workspace.config.SERVICE_BASE_URL);
    return {
      kind: 'private',
      message: deployMessage({ word: workspace.word, account: account?.name, url, project }),
    };
  },
});
