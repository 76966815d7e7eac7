import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { drawDigest, frameOf } from '../../scheduler/digests/digest.ts';
import { gatherReports } from '../../scheduler/digests/reports.ts';
import { type CommandContext, defineCommand, fromButton } from '../command.ts';
import { resolveSchedule } from '../schedules/feature.ts';
import { ScheduleButton } from '../schedules/lifecycle.ts';
import { DIGEST_FEATURE } from './feature.ts';

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
  const { workspace } = context;
  const { record: digest } = await resolveSchedule(DIGEST_FEATURE, context, named);
  const reports = await gatherReports(workspace, digest);
  if (reports.length === 0)
    throw new UserError('The account of this digest is not connected any more.', 'accounts');
  const frame = { ...frameOf(workspace, digest), isPreview: true };
  return { kind: 'private', message: await drawDigest(workspace, frame, reports) };
}
