import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { projectId } from '../../core/project-ref.ts';
import { daysLater } from '../../core/time/zone.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import type { ChoicesOf, Digest } from '../../records/schedules.ts';
import { createFrame, gatherReports } from '../../scheduler/digests/digest.ts';
import { isServed } from '../../scheduler/schedules/lifecycle.ts';
import { refreshProject } from '../../scheduler/schedules/timed.ts';
import { digestMessage, digestModal } from '../../views/digests/digest.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { defineButton } from '../action.ts';
import { expectServiceRange, readActivityWords } from '../activity/activity.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import { readCadenceWords, typedAfter } from '../schedules/cadence-words.ts';
import { type Operation, ScheduleButton } from '../schedules/lifecycle.ts';
import { resolveSchedule } from '../schedules/schedules.ts';
import {
  type Filled,
  openTimedForm,
  setUpTimed,
  type TimedFeature,
  timedCommands,
} from '../schedules/timed-form.ts';
import { findChosenProject, findProjectForForm, isEverything } from '../targets/targets.ts';

/** The service's own default. API 4.9 (docs/service-api.md). */
const DEFAULT_RANGE = 'last_7_days';
const SNOOZED_DAYS = 7;

const SNOOZING: Operation = {
  verb: 'snooze',
  command: 'digest pause',
  audited: 'digest snooze',
  done: 'snoozed',
  change: ({ workspace: { clock, schedules } }, { id }) =>
    schedules.change({ kind: 'digest', id }, (digest) => ({
      ...digest,
      snoozedUntil: daysLater(digest.zone, clock.now(), SNOOZED_DAYS),
    })),
};

const DIGEST_FEATURE = {
  kind: 'digest',
  modal: digestModal,
  snoozing: SNOOZING,
  defaults: { cadence: 'weekdays', time: '09:00', range: DEFAULT_RANGE },
  readValues: ({ range, skipQuiet }: Digest) => ({ range, skip_quiet: skipQuiet ? ['skip_quiet'] : [] }),
  choose,
  isSame: (digest: Digest, choices: ChoicesOf<'digest'>) =>
    isDeepStrictEqual(pickContents(digest), pickContents(choices)),
} as const satisfies TimedFeature;

function pickContents({ cadence, zone, range, skipQuiet, account, project }: ChoicesOf<'digest'>) {
  return { cadence, zone, range, skipQuiet, account, project: project && projectId(project) };
}

/** Other words for `digest add`. */
const ADD_SYNONYMS = ['digest create', 'digest new', 'remind', 'reminder', 'schedule'];

export const digestCommands: readonly Command[] = [
  ...timedCommands(DIGEST_FEATURE, {
    name: 'digest add',
    phrase: SCHEDULE_FACES.digest.phrase,
    shownAs: 'digest',
    synonyms: ADD_SYNONYMS,
    summary: 'Posts a digest of the activity in this channel, by these words or in a form',
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
      const channel = expectChannel(context);
      if (args.words === undefined) return openTimedForm(DIGEST_FEATURE, channel, context);
      const words = readDigestWords(typedAfter(ADD_SYNONYMS, context.text, ['skip-quiet']));
      const { invocation, workspace } = context;
      const bound = await workspace.channels.get(channel);
      const account = context.account ?? bound.account;
      const project = await findProjectForForm(workspace, account, readChannelProject(bound, account));
      return setUpTimed(DIGEST_FEATURE, context, channel, {
        cadence: words.cadence,
        zone: words.zone ?? (await readZone(workspace, invocation.user)),
        range: words.range,
        account,
        project: args.project ?? words.project ?? project?.permalink,
        skip_quiet: args['skip-quiet'] === true ? ['skip_quiet'] : [],
      });
    },
  }),
  defineCommand({
    name: 'digest preview',
    phrase: SCHEDULE_FACES.digest.phrase,
    shownAs: 'digest',
    synonyms: ['preview'],
    summary: 'Shows you a digest as it would be posted now',
    usage: '[id]',
    role: 'operator',
    needsAccount: true,
    takesAccount: false,
    args: z.object({ id: z.string().optional() }),
    run: ({ id }, context) => preview(context, id),
    actions: [
      defineButton(ScheduleButton, {
        actionId: 'digest:preview',
        run: ({ id }, context) => preview(context, id),
      }),
    ],
  }),
];

/**
 * Reads the words of a digest: its times, zone, range and project. Pure.
 * @throws UserError for the first wrong word, with the nearest right one
 */
export function readDigestWords(words: readonly string[]) {
  const { cadence, zone, rest } = readCadenceWords(words, 'digest', beginsWithRange);
  const { range, project } = readActivityWords(rest);
  return { cadence, zone, range: expectServiceRange(range), project };
}

function beginsWithRange(words: readonly string[]): boolean {
  return [1, 2, 3, 4].some((length) => isRange(words.slice(0, length)));
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

async function choose(
  context: CommandContext,
  {
    account: nameOrId,
    project: projectName,
    cadence,
    zone,
    range = DEFAULT_RANGE,
    skip_quiet: quiet = [],
  }: Filled,
): Promise<ChoicesOf<'digest'>> {
  const { workspace } = context;
  const project = projectName === undefined || isEverything(projectName) ? undefined : projectName;
  const account = await workspace.accounts.resolve(SCHEDULES, nameOrId);
  const only = nameOrId === undefined && project === undefined ? {} : { account: account.name };
  if (!isServed(only, await workspace.accounts.list()))
    throw new UserError('This digest has no working account.', `connect ${account.name}`);
  const skipQuiet = quiet.includes('skip_quiet');
  const choices = { kind: 'digest', cadence, zone, range, skipQuiet, ...only } as const;
  if (project === undefined) return choices;
  return { ...choices, project: await findChosenProject(context, account, project) };
}

async function preview(context: CommandContext, nameOrId: string | undefined): Promise<Reply> {
  const { workspace } = context;
  const stored = await resolveSchedule('digest', context, nameOrId, { done: 'shown' });
  const digest = await refreshProject(workspace, stored);
  const reports = await gatherReports(workspace, digest);
  if (reports.length === 0)
    throw new UserError('The account of this digest is not connected any more.', 'accounts');
  const frame = { ...createFrame(workspace, digest), isPreview: true };
  return replyPrivately(digestMessage(frame, reports));
}
