import { z } from 'zod';
import { dateTime } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import { isSameProject } from '../../core/project-ref.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Guard } from '../../records/guards.ts';
import { nextOf } from '../../records/timed-schedules.ts';
import { GUARDS } from '../../scheduler/guards/guard.ts';
import { guardModal, guardWords } from '../../views/guards/guard.ts';
import { SCHEDULE_FACES } from '../../views/schedules/schedule.ts';
import { timedList } from '../../views/schedules/timed.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { type Command, underField } from '../command.ts';
import { channelOf, chosenProject, projectForForm, projectOf } from '../resolve-target.ts';
import { cadenceIndex, readCadenceWords, typedAfter } from '../schedules/cadence-words.ts';
import {
  addTimed,
  listed,
  openTimedForm,
  type TimedFeature,
  timedCommands,
} from '../schedules/timed-form.ts';

/** Guards, as people meet them. */
const GUARD_FEATURE: TimedFeature<Guard> = {
  kind: GUARDS,
  noun: 'guard',
  face: SCHEDULE_FACES.guard,
  words: guardWords,
  note(guard, done, { workspace: { clock } }) {
    if (done === 'removed') return undefined;
    const next = nextOf(guard, clock.now());
    return next === undefined
      ? undefined
      : `It is silent while all is reachable. The next run is ${dateTime(next)}.`;
  },
  matches: ({ project }, wanted) => isNamed(project, wanted),
  list: async (guards, listing, { clock }) =>
    timedList(SCHEDULE_FACES.guard, listed(guards, clock), listing, guardWords),
  modal: guardModal,
  defaults: { cadence: 'hourly', time: '09:00' },
  valuesOf: () => ({}),
  isSame: ({ account, project }, choices) =>
    account === choices.account && isSameProject(project, choices.project),
  async choicesOf(context, { cadence, zone, account: named, project: wanted }) {
    const { workspace, caller } = context;
    const bound = await workspace.channels.get(caller.channel);
    const account = await workspace.accounts.resolve(SCHEDULES, named, bound.account);
    const project = await underField('project', () => chosenProject(context, account, wanted));
    return { cadence, zone, account: account.name, project };
  },
};

export const guardCommands: readonly Command[] = timedCommands(GUARD_FEATURE, {
  name: 'guard add',
  summary: 'Tests a project on a schedule, silent while all is reachable, by these words or in a form',
  usage: '[project] [<daily|weekdays|weekly:<day>> <HH:MM> | hourly | cron:"<five fields>"] [zone]',
  examples: [
    'guard add storefront hourly',
    'guard add storefront weekdays 08:30 Europe/Lisbon',
    'guard add cron:"15 */4 * * *" UTC',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: (words) => cadenceIndex(words) < words.length,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async run({ words }, context) {
    const channel = channelOf(context);
    if (words === undefined) return openTimedForm(GUARD_FEATURE, channel, context);
    const typed = typedAfter('guard add', context.text);
    const named = typed.slice(0, cadenceIndex(typed)).join(' ') || undefined;
    const times = typed.slice(cadenceIndex(typed));
    if (times.length === 0) {
      const { account, project } = await projectForForm(context, named);
      const chosen = { account: account.name, project: project?.permalink };
      return openTimedForm(GUARD_FEATURE, channel, context, chosen);
    }
    const { cadence, zone } = readCadenceWords(times, 'guard');
    const { account, project } = await projectOf(context, named, SCHEDULES);
    return addTimed(GUARD_FEATURE, context, channel, {
      cadence,
      zone: zone ?? (await zoneOf(context.workspace, context.caller.user)),
      account: account.name,
      project: project.permalink,
    });
  },
});
