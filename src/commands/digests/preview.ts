import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { filesOf, frameOf, uploadPictures } from '../../scheduler/digests/post.ts';
import { gatherReports, reportedOf } from '../../scheduler/digests/reports.ts';
import { unlessSlackFails } from '../../slack/failure.ts';
import { sendWithFiles } from '../../slack/uploads.ts';
import { digestMessage } from '../../views/digests/digest.ts';
import { fromButton } from '../carried.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { resolveSchedule } from '../schedules/feature.ts';
import { ScheduleButton } from '../schedules/lifecycle.ts';
import { DIGEST_FEATURE } from './lifecycle.ts';

export const digestPreview = defineCommand({
  name: 'digest preview',
  summary: 'Shows you a digest as it would be posted now; the id may be left out where the channel has one',
  usage: '[id]',
  role: 'operator',
  needsAccount: true,
  takesAccount: false,
  args: z.object({ id: z.string().optional() }),
  run: ({ id }, context) => preview(context, id),
  actions: [
    {
      actionId: 'digest:preview',
      role: 'operator',
      run: (value, context) => preview(context, fromButton(ScheduleButton, value).id),
    },
  ],
});

async function preview(context: CommandContext, named: string | undefined): Promise<Reply> {
  const { caller, workspace } = context;
  const { channel, user } = caller;
  const { record: digest } = await resolveSchedule(DIGEST_FEATURE, context, named);
  const reports = await gatherReports(workspace, digest);
  if (reports.length === 0)
    throw new UserError('The account of this digest is not connected any more.', 'accounts');
  const frame = { ...frameOf(workspace, digest), isPreview: true };
  const plain: Reply = { kind: 'private', message: digestMessage(frame, reports) };
  const { pictures } = await uploadPictures(workspace, reportedOf(reports));
  if (channel === undefined || pictures.length === 0) return plain;
  const drawn = digestMessage(frame, reports, filesOf(pictures));
  // Posted here, because only Slack's answer says whether it shows the pictures.
  const post = () => workspace.slack.postEphemeral({ channel, user }, drawn);
  const posted = await unlessSlackFails(sendWithFiles(workspace.clock, post));
  return posted === undefined ? plain : { kind: 'nothing' };
}
