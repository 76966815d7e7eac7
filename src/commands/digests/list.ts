import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { digestListMessage, type ListedDigest } from '../../views/digests/list.ts';
import { type Digest, nextOf } from '../../workspace/digests.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';

/** How much a list shows; its buttons carry it, so that they draw the same list anew. */
export const ListScope = z.enum(['here', 'all']);
type ListScope = z.infer<typeof ListScope>;

export const digestList = defineCommand({
  // Found by the first word alone too, so that `digest` lists what there is.
  name: 'digest',
  summary: 'Lists this channel’s digests: when they come next, how the last went, who set them up',
  usage: 'list [all]',
  examples: ['digest list', 'digest list all'],
  role: 'operator',
  needsAccount: false,
  positionals: ['what', 'scope'],
  args: z.object({
    what: z.string().toLowerCase().pipe(z.literal('list')).optional(),
    scope: z.string().toLowerCase().pipe(z.literal('all')).optional(),
  }),
  async run({ scope }, context) {
    return { kind: 'channel', message: await listDigests(context, scope ?? 'here') };
  },
});

export async function listDigests({ caller, workspace }: CommandContext, scope: ListScope): Promise<Message> {
  const all = await workspace.digests.list();
  const here = all.filter(({ channel }) => channel === caller.channel);
  const shown = scope === 'all' ? all : here;
  const now = workspace.clock.now();
  return digestListMessage(
    shown.map((digest) => listed(digest, now)),
    { scope, elsewhere: all.length - shown.length, word: workspace.config.SLACK_COMMAND },
  );
}

function listed(digest: Digest, now: number): ListedDigest {
  const { snoozedUntil, ...rest } = digest;
  const isSnoozed = snoozedUntil !== undefined && snoozedUntil > now;
  return { ...rest, next: nextOf(digest, now), ...(isSnoozed ? { snoozedUntil } : {}) };
}
