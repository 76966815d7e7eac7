import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { projectId } from '../../core/project-ref.ts';
import { daysLater } from '../../core/time/zone.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import type { ChoicesOf, Digest } from '../../records/schedules.ts';
import { gatherReports } from '../../scheduler/digests/gather-reports.ts';
import { createFrame } from '../../scheduler/digests/post-digest.ts';
import { refreshProject } from '../../scheduler/schedules/occurrences.ts';
import { isServed } from '../../scheduler/schedules/pause-schedule.ts';
import { digestMessage, digestModal } from '../../views/digests/digest-message.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { defineButton } from '../action.ts';
import { expectServiceRange, readActivityWords } from '../activity/activity-words.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import { readCadenceWords, typedAfter } from '../schedules/cadence-words.ts';
import { type Operation, ScheduleButton } from '../schedules/schedule-commands.ts';
import { resolveSchedule } from '../schedules/schedule-replies.ts';
import {
  type Filled,
  openTimedForm,
  setUpTimed,
  type TimedFeature,
  timedCommands,
} from '../schedules/timed-form.ts';
import {
  findChosenProject,
  findProjectForForm,
  isEverything,
  namesProject,
  resolveProject,
} from '../targets/targets.ts';

export const DEFAULT_RANGE = 'since_last' as const;
const SNOOZED_DAYS = 7;

const SNOOZING: Operation = {
  verb: 'snooze',
  command: 'digest pause',
  audited: 'digest snooze',
  done: 'snoozed',
  async change({ workspace: { clock, schedules } }, { id }) {
    const schedule = await schedules.change({ kind: 'digest', id }, (digest) => ({
      ...digest,
      snoozedUntil: daysLater(digest.zone, clock.now(), SNOOZED_DAYS),
    }));
    return schedule && { schedule };
  },
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

const OFTEN =
  'daily|weekly|weekdays|hourly|every|each|on|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri';
const SUMMARY = 'digest|digests|report|reports|summary|summaries|recap|newsletter|stats';
const DIGEST_PHRASES = {
  [`${SUMMARY} (${OFTEN}) +`]: '$1 $2',
  [`${SUMMARY} at +`]: 'daily $1',
  [`${SUMMARY} ${OFTEN}|monthly`]: '',
  [`(${OFTEN}) ${SUMMARY} +`]: '$1 $2',
  [`${OFTEN}|monthly ${SUMMARY}`]: '',
  [`every week|day|morning|month ${SUMMARY}`]: '',
  [`add|create|new|make|want|get|schedule|start|enable ${SUMMARY}`]: '',
  [`send|post|give|make|want|get|schedule|add|create|start ${SUMMARY} (${OFTEN}) +`]: '$1 $2',
  [`send|post|give|make|want|get|schedule|add|create ${OFTEN}|monthly ${SUMMARY}`]: '',
  [`send|post|give|make|want|get|schedule|add|create (${OFTEN}) ${SUMMARY} +`]: '$1 $2',
  [`${SUMMARY} ${OFTEN} week|day|morning|month`]: '',
};

export const digestCommands: readonly Command[] = [
  ...timedCommands(DIGEST_FEATURE, {
    name: 'digest add',
    phrase: SCHEDULE_FACES.digest.phrase,
    shownAs: 'digest',
    synonyms: ADD_SYNONYMS,
    phrases: DIGEST_PHRASES,
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
    async handle(args, context) {
      const channel = expectChannel(context);
      if (args.words === undefined) return openTimedForm(DIGEST_FEATURE, channel, context);
      const words = readDigestWords(typedAfter(ADD_SYNONYMS, context.text, ['skip-quiet']));
      const { invocation, workspace } = context;
      const bound = await workspace.channels.get(channel);
      const account = context.account ?? bound.account;
      const project = await findProjectForForm(workspace, account, readChannelProject(bound, account));
      const projectName = args.project ?? words.project;
      const isAll = projectName !== undefined && (await meansEverything(context, account, projectName));
      const isOne = projectName !== undefined && !isAll;
      return setUpTimed(DIGEST_FEATURE, context, channel, {
        cadence: words.cadence,
        zone: words.zone ?? (await readZone(workspace, invocation.user)),
        range: words.range,
        // A project may be that of another account than the channel's.
        account: isOne ? context.account : account,
        project: isAll ? undefined : (projectName ?? project?.permalink),
        skip_quiet: args['skip-quiet'] === true ? ['skip_quiet'] : [],
      });
    },
  }),
  defineCommand({
    name: 'digest preview',
    phrase: SCHEDULE_FACES.digest.phrase,
    shownAs: 'digest',
    synonyms: ['preview', 'digest now', 'digest run', 'digest send', 'digest test'],
    phrases: {
      'send|post|show|preview|run digest|report now|today|again?': '',
      'digest now|today|please': '',
    },
    isHarmless: true,
    summary: 'Shows you a digest as it would be posted now',
    usage: '[id]',
    role: 'operator',
    needsAccount: true,
    takesAccount: false,
    args: z.object({ id: z.string().optional() }),
    handle: ({ id }, context) => preview(context, id),
    actions: [
      defineButton(ScheduleButton, {
        actionId: 'digest:preview',
        handle: ({ id }, context) => preview(context, id),
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
  const sinceLast = countSinceLast(rest);
  const { range, project } = readActivityWords(rest.slice(sinceLast));
  if (sinceLast > 0 && range !== undefined) throw new UserError('Name one range only.', 'help digest');
  return { cadence, zone, range: sinceLast > 0 ? DEFAULT_RANGE : expectServiceRange(range), project };
}

const SINCE_LAST = /^since (?:the )?(?:last|previous)(?: (?:one|time|digest))?$/;

/** Number of words at the beginning that mean `since_last`. */
function countSinceLast(words: readonly string[]): number {
  const lengths = [4, 3, 2, 1].filter((length) => length <= words.length);
  const readPhrase = (length: number): string => words.slice(0, length).join(' ').toLowerCase();
  return lengths.find((length) => SINCE_LAST.test(readPhrase(length).replaceAll(/[_-]+/g, ' '))) ?? 0;
}

function beginsWithRange(words: readonly string[]): boolean {
  if (countSinceLast(words) > 0) return true;
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

/** True for `all`, unless a project is called so, and for `*`. */
async function meansEverything(
  context: CommandContext,
  account: string | undefined,
  word: string,
): Promise<boolean> {
  if (!isEverything(word)) return false;
  return !(await namesProject(context, await context.workspace.accounts.resolve(SCHEDULES, account), word));
}

async function choose(context: CommandContext, filled: Filled): Promise<ChoicesOf<'digest'>> {
  const { account: nameOrId, project, cadence, zone } = filled;
  const { range = DEFAULT_RANGE, skip_quiet: quiet = [] } = filled;
  const { workspace } = context;
  if (project !== undefined && nameOrId === undefined) {
    // One account after another.
    const match = await resolveProject({ ...context, account: undefined }, project, SCHEDULES);
    return choose(context, { ...filled, account: match.account.name, project: match.project.permalink });
  }
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
