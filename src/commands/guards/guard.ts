import { z } from 'zod';
import { isSameProject } from '../../core/project-ref.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import type { Guard } from '../../records/schedules.ts';
import type { GuardChoices } from '../../scheduler/schedules/start.ts';
import { guardModal } from '../../views/schedules/timed.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { type Command, type CommandContext, channelOf, underField } from '../command.ts';
import { cadenceIndex, readCadenceWords, typedAfter } from '../schedules/cadence-words.ts';
import {
  type Filled,
  openTimedForm,
  setUpTimed,
  type TimedFeature,
  timedCommands,
} from '../schedules/timed-form.ts';
import { chosenProject, projectForForm, projectOf } from '../targets/project.ts';

const GUARD_FEATURE = {
  kind: 'guard',
  modal: guardModal,
  defaults: { cadence: 'hourly', time: '09:00' },
  isSame: ({ account, project }: Guard, choices: GuardChoices) =>
    account === choices.account && isSameProject(project, choices.project),
  async choose(context: CommandContext, { cadence, zone, account: named, project: wanted }: Filled) {
    const { workspace, caller } = context;
    const bound = await workspace.channels.get(caller.channel);
    const account = await workspace.accounts.resolve(SCHEDULES, named, bound.account);
    const project = await underField('project', () => chosenProject(context, account, wanted));
    return { kind: 'guard', cadence, zone, account: account.name, project } as const;
  },
} as const satisfies TimedFeature;

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
    return setUpTimed(GUARD_FEATURE, context, channel, {
      cadence,
      zone: zone ?? (await zoneOf(context.workspace, context.caller.user)),
      account: account.name,
      project: project.permalink,
    });
  },
});
