import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { dateTime, truncate } from '../../core/mrkdwn.ts';
import { daysLater, parseZone } from '../../jobs/zone.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Digest } from '../../records/digests.ts';
import { nextOf } from '../../records/timed-schedules.ts';
import { DIGESTS } from '../../scheduler/digests/digest.ts';
import { isServed } from '../../scheduler/schedules/reconcile-schedules.ts';
import type { Choices } from '../../scheduler/schedules/timed.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { digestWords, withFooterChange } from '../../views/digests/digest.ts';
import { digestModal } from '../../views/digests/form.ts';
import { SCHEDULE_FACES, type ScheduleChange } from '../../views/schedules/schedule.ts';
import { timedList } from '../../views/schedules/timed.ts';
import { findProject } from '../../workspace/projects.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { isEverything } from '../resolve-target.ts';
import { actionOf, listCommand, type Operation, scheduleCommands } from '../schedules/lifecycle.ts';
import {
  type Filled,
  listed,
  type TimedFeature,
  TimedFields,
  timedEditCommand,
} from '../schedules/timed-form.ts';

/** API 4.9 (docs/service-api.md): what the service takes where no range is named. */
export const DEFAULT_RANGE = 'last_7_days';

const Fields = TimedFields.extend({
  range: z.enum(ACTIVITY_RANGES, { error: 'Choose what it covers.' }),
  skip_quiet: z.array(z.string()).optional(),
});
type Fields = z.infer<typeof Fields>;

/** Digests, as people meet them. */
export const DIGEST_FEATURE: TimedFeature<Digest, Fields> = {
  kind: DIGESTS,
  noun: 'digest',
  face: SCHEDULE_FACES.digest,
  words: digestWords,
  note: noteOf,
  isSnoozed: ({ snoozedUntil }) => snoozedUntil !== undefined,
  list: async (digests, listing, { clock }) =>
    timedList(SCHEDULE_FACES.digest, listed(digests, clock), listing, digestWords),
  fields: Fields,
  modal: digestModal,
  defaults: { cadence: 'weekdays', time: '09:00', range: DEFAULT_RANGE },
  valuesOf: ({ range, skipQuiet }) => ({ range, skip_quiet: skipQuiet ? ['skip_quiet'] : [] }),
  choicesOf,
  redraw(message, digest, { done, user }, { workspace }) {
    const isAsleep = digest.state.kind === 'paused' || digest.snoozedUntil !== undefined;
    const frame = { digest, next: nextOf(digest, workspace.clock.now()) };
    return withFooterChange(message, frame, { said: `${done} by <@${user}>`, isAsleep });
  },
};

function noteOf(
  digest: Digest,
  done: ScheduleChange['done'],
  { workspace }: CommandContext,
): string | undefined {
  const { clock } = workspace;
  const { snoozedUntil } = digest;
  switch (done) {
    case 'snoozed':
      return snoozedUntil === undefined ? undefined : `It is back after ${dateTime(snoozedUntil)}.`;
    case 'removed':
    case 'paused':
    case 'restored':
      return undefined;
    default: {
      const next = nextOf({ ...digest, snoozedUntil: 0 }, clock.now());
      return next === undefined ? undefined : `The next one is ${dateTime(next)}.`;
    }
  }
}

async function choicesOf(
  { workspace }: CommandContext,
  { account: named, project: wanted, cadence, zone, range, skip_quiet: quiet = [] }: Filled<Fields>,
): Promise<Choices<Digest>> {
  const isOfOne = wanted !== undefined && !isEverything(wanted);
  const account = await workspace.accounts.resolve(SCHEDULES, named);
  const kept = named === undefined && !isOfOne ? {} : { account: account.name };
  if (!isServed({ account: kept.account }, await workspace.accounts.list()))
    throw new UserError('This digest has no working account.', `connect ${account.name}`);
  const skipQuiet = quiet.includes('skip_quiet');
  const choices = { cadence, zone: parseZone(zone), range, skipQuiet, ...kept };
  if (!isOfOne) return choices;
  const project = findProject(await workspace.projects.look(account), wanted);
  if (project === undefined) throw new UserError('Name the project.', 'projects');
  return { ...choices, project: { permalink: project.permalink, name: truncate(project.name, 100) } };
}

const SNOOZED_DAYS = 7;

const SNOOZING: Operation<Digest> = {
  verb: 'snooze',
  command: 'digest pause',
  audited: 'digest snooze',
  done: 'snoozed',
  async change({ workspace: { clock, digests } }, schedule) {
    const snoozedUntil = daysLater(schedule.record.zone, clock.now(), SNOOZED_DAYS);
    const changed = await digests.change(schedule.id, (current) => ({ ...current, snoozedUntil }));
    return changed && DIGESTS.asSchedule(changed);
  },
};

const { pause, resume, remove } = scheduleCommands(DIGEST_FEATURE);

export const digestPause = defineCommand({
  ...pause,
  actions: [...(pause.actions ?? []), actionOf(DIGEST_FEATURE, SNOOZING)],
});
export const digestEdit = defineCommand(timedEditCommand(DIGEST_FEATURE));
export const digestResume = defineCommand(resume);
export const digestRemove = defineCommand(remove);

export const digestList = defineCommand({
  ...listCommand(DIGEST_FEATURE),
  summary: 'Lists this channel’s digests: when they come next, how the last went, who set them up',
  examples: ['digest list', 'digest list all'],
});
