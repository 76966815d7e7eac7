import { z } from 'zod';
import { startMessage } from '../../views/help/start.ts';
import { askAccessAction } from '../admin/access.ts';
import { fromButton } from '../carried.ts';
import { defineCommand } from '../command.ts';
import { OWNER_ACTIONS } from '../episodes/owner.ts';

/** @see suggestionsMessage for the thread, that of the mention which the button answers. */
const Typed = z.object({ text: z.string(), thread: z.string().optional() });

/** What a bare slash word means: what to do next in this channel. */
export const start = defineCommand({
  name: 'start',
  summary: 'Shows what to do next in this channel; so does the slash word alone',
  role: 'member',
  async run(_, { caller, workspace }) {
    const accounts = await workspace.accounts.list(caller);
    const channel = await workspace.channels.get(caller.channel);
    const isAdmin = await workspace.roles.holds(caller.user, 'admin');
    const { word, config } = workspace;
    const canSignUp = config.SERVICE_SIGNUP_URL !== undefined;
    return { kind: 'private', message: startMessage({ word, accounts, channel, isAdmin, canSignUp }) };
  },
  actions: [
    // Stands on refusals of every command, in every channel.
    askAccessAction,
    // Stand under watches and guards alike, and are allowed where those are.
    ...OWNER_ACTIONS,
    {
      actionId: 'start:run',
      role: 'member',
      durable: true,
      // Only what a person could type: the command's own role is checked when it runs.
      run: async (value) => ({ kind: 'run', ...fromButton(Typed, value) }),
    },
    {
      // For commands that open a form, which cannot wait until they are stored, and for those that only read.
      actionId: 'start:at-once',
      role: 'member',
      run: async (value) => ({ kind: 'run', ...fromButton(Typed, value) }),
    },
  ],
});
