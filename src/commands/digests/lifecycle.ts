import { code, dateTime } from '../../core/mrkdwn.ts';
import { daysLater } from '../../jobs/zone.ts';
import { type Digest, nextOf } from '../../records/digests.ts';
import { asSchedule, DIGESTS } from '../../scheduler/digests/schedule.ts';
import { withFooterChange } from '../../views/digests/digest.ts';
import {
  digestCommand,
  digestListMessage,
  digestWords,
  type ListedDigest,
} from '../../views/digests/list.ts';
import { SCHEDULE_FACES, type ScheduleChange } from '../../views/schedules/schedule.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import type { ScheduleFeature } from '../schedules/feature.ts';
import { actionOf, listCommand, type Operation, scheduleCommands } from '../schedules/lifecycle.ts';

/** Digests, as people meet them. */
export const DIGEST_FEATURE: ScheduleFeature<Digest> = {
  kind: DIGESTS,
  face: SCHEDULE_FACES.digest,
  words: digestWords,
  note: noteOf,
  isSnoozed: ({ snoozedUntil }) => snoozedUntil !== undefined,
  async list(digests, listing, { clock }) {
    const listed = digests.map((digest) => shownInList(digest, clock.now()));
    return digestListMessage(listed, listing);
  },
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
  const { clock, word } = workspace;
  const { snoozedUntil } = digest;
  switch (done) {
    case 'removed':
      return `This sets it up again: ${code(`${word} ${digestCommand(digest)}`, 500)}`;
    case 'snoozed':
      return snoozedUntil === undefined ? undefined : `It is posted again after ${dateTime(snoozedUntil)}.`;
    case 'paused':
    case 'restored':
      return undefined;
    default: {
      const next = nextOf({ ...digest, snoozedUntil: 0 }, clock.now());
      return next === undefined ? undefined : `Next: ${dateTime(next)}.`;
    }
  }
}

function shownInList(digest: Digest, now: number): ListedDigest {
  const { snoozedUntil = 0 } = digest;
  return {
    ...digest,
    next: nextOf(digest, now),
    snoozedUntil: snoozedUntil > now ? snoozedUntil : undefined,
  };
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
    return changed && asSchedule(changed);
  },
};

const { pause, resume, remove } = scheduleCommands(DIGEST_FEATURE);

export const digestPause = defineCommand({
  ...pause,
  actions: [...(pause.actions ?? []), actionOf(DIGEST_FEATURE, SNOOZING)],
});
export const digestResume = defineCommand(resume);
export const digestRemove = defineCommand(remove);

export const digestList = defineCommand({
  ...listCommand(DIGEST_FEATURE),
  summary: 'Lists this channel’s digests: when they come next, how the last went, who set them up',
  examples: ['digest list', 'digest list all'],
});
