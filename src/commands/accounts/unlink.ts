import { z } from 'zod';
import { notLinkedMessage, unlinkedMessage } from '../../views/accounts/link.ts';
import { defineCommand } from '../command.ts';
import { link } from './link.ts';

export const unlink = defineCommand({
  name: 'unlink',
  summary: 'Deletes your link to your user at the service',
  usage: '',
  role: 'member',
  needsAccount: false,
  durable: true,
  positionals: [],
  args: z.object({}),
  isAvailable: (config) => link.isAvailable?.(config) ?? true,
  async run(_, { caller, workspace }) {
    const { user } = caller;
    if (!(await workspace.links.remove(user)))
      return { kind: 'private', message: notLinkedMessage(workspace.config.SLACK_COMMAND) };
    return { kind: 'private', message: unlinkedMessage(), audit: {} };
  },
});
