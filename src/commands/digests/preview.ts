import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { uploadPictures } from '../../scheduler/digests/pictures.ts';
import { filesOf, frameOf } from '../../scheduler/digests/post.ts';
import { gatherReports, toldOf } from '../../scheduler/digests/reports.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { digestMessage } from '../../views/digests/digest.ts';
import type { Digest } from '../../workspace/digests.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { DigestButton } from './lifecycle.ts';
import { digestOf } from './resolve-digest.ts';

export const digestPreview = defineCommand({
  name: 'digest preview',
  summary: 'Shows you a digest as it would be posted now; the id may be left out where the channel has one',
  usage: '[id]',
  role: 'operator',
  needsAccount: true,
  positionals: ['id'],
  args: z.object({ id: z.string().optional() }),
  run: async ({ id }, context) => preview(context, await digestOf(context, id)),
  actions: [
    {
      actionId: 'digest:preview',
      role: 'operator',
      async run(value, context) {
        const { id } = DigestButton.parse(JSON.parse(value ?? '{}'));
        return preview(context, await digestOf(context, id));
      },
    },
  ],
});

async function preview({ caller, workspace }: CommandContext, digest: Digest): Promise<Reply> {
  const { channel, user } = caller;
  const reports = await gatherReports(workspace, digest);
  if (reports.length === 0)
    throw new UserError('The account that this digest asks is not connected any more.', 'accounts');
  const frame = { ...frameOf(workspace, digest), isPreview: true };
  const plain: Reply = { kind: 'private', message: digestMessage(frame, reports) };
  const pictures = await uploadPictures(workspace, toldOf(reports));
  if (channel === undefined || pictures.length === 0) return plain;
  try {
    // Shown from here, because only Slack's answer tells whether it shows the pictures.
    await workspace.slack.postEphemeral({ channel, user }, digestMessage(frame, reports, filesOf(pictures)));
    return { kind: 'nothing' };
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    return plain;
  }
}
