import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { projectOfChannel } from '../../records/channels.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { readActivityWords } from '../activity/activity.ts';
import { defineCommand } from '../command.ts';
import { channelOf } from '../resolve-target.ts';
import { readCadenceWords, typedAfter } from '../schedules/cadence-words.ts';
import { addForm, addTimed, openTimedForm } from '../schedules/timed-form.ts';
import { DEFAULT_RANGE, DIGEST_FEATURE } from './feature.ts';

export const digestAdd = defineCommand({
  name: 'digest add',
  summary: 'Sets up a digest of the activity in this channel; without words, in a form',
  usage:
    '[<daily|weekdays|weekly:<day>> <HH:MM> | cron:"<five fields>"] [zone] [range] [--project <project>|all] [--skip-quiet]',
  examples: [
    'digest add weekly:mon 09:00 Europe/Lisbon last_7_days',
    'digest add weekdays 09:00 Asia/Tokyo this_week --skip-quiet',
    'digest add cron:"*/5 * * * *" UTC today',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: (words) => words.length > 0,
  rest: true,
  flags: ['project'],
  switches: ['skip-quiet'],
  args: z.object({
    words: z.string().optional(),
    project: z.string().optional(),
    'skip-quiet': z.literal(true).optional(),
  }),
  async run(args, context) {
    const channel = channelOf(context);
    if (args.words === undefined) return openTimedForm(DIGEST_FEATURE, channel, context);
    const words = readDigestWords(typedAfter('digest add', context.text, ['skip-quiet']));
    const { caller, workspace } = context;
    const bound = await workspace.channels.get(channel);
    const account = context.account ?? bound.account;
    return addTimed(DIGEST_FEATURE, context, channel, {
      cadence: words.cadence,
      zone: words.zone ?? (await zoneOf(workspace, caller.user)),
      range: words.range ?? DEFAULT_RANGE,
      account,
      project: args.project ?? words.project ?? projectOfChannel(bound, account)?.permalink,
      skip_quiet: args['skip-quiet'] === true ? ['skip_quiet'] : [],
    });
  },
  ...addForm(DIGEST_FEATURE),
});

/**
 * Reads what sets up a digest: when, in which zone, and what it covers. Pure.
 * @throws UserError for the first word that is wrong, with the nearest that is right
 */
export function readDigestWords(words: readonly string[]) {
  const { cadence, zone, rest } = readCadenceWords(words, 'digest', beginsWithRange);
  const { range, project } = readActivityWords(rest);
  return { cadence, zone, range, project };
}

function beginsWithRange(words: readonly string[]): boolean {
  for (let length = 1; length <= Math.min(4, words.length); length += 1)
    if (isRange(words.slice(0, length))) return true;
  return false;
}

function isRange(words: readonly string[]): boolean {
  try {
    const { range, project } = readActivityWords(words);
    return range !== undefined && project === undefined;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
