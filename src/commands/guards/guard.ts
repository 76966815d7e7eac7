import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { isSameProject } from '../../core/project-ref.ts';
import { SCHEDULES } from '../../records/accounts.ts';
import {
  type ChoicesOf,
  type Guard,
  isAsleep,
  type Schedule,
  type TimedSchedule,
} from '../../records/schedules.ts';
import { runGuard } from '../../scheduler/guards/guard-runs.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { whyPaused } from '../../views/schedules/schedule.ts';
import { escalationValues, guardModal } from '../../views/schedules/timed-modal.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import {
  ESCALATION_FLAGS,
  findCadenceIndex,
  readCadenceWords,
  readEscalation,
  typedAfter,
} from '../schedules/cadence-words.ts';
import { describeChange } from '../schedules/change-replies.ts';
import { expectAllowedThere, resolveSchedule } from '../schedules/schedule-replies.ts';
import {
  type Filled,
  openTimedForm,
  setUpTimed,
  type TimedFeature,
  timedCommands,
} from '../schedules/timed-form.ts';
import { showUnderField } from '../submission.ts';
import {
  findChosenProject,
  namesProject,
  resolveAccount,
  resolveForForm,
  resolveProject,
} from '../targets/targets.ts';

const GUARD_FEATURE = {
  kind: 'guard',
  modal: guardModal,
  defaults: { cadence: 'hourly', time: '09:00' },
  isOnePerProject: true,
  isSame: ({ account, project }: Guard, choices: ChoicesOf<'guard'>) =>
    account === choices.account && isSameProject(project, choices.project),
  readValues: (guard: TimedSchedule) => (guard.kind === 'guard' ? escalationValues(guard.escalation) : {}),
  async choose(context: CommandContext, filled: Filled, before?: TimedSchedule) {
    const { cadence, zone, account: accountName, project: projectName } = filled;
    const { workspace, invocation } = context;
    const bound = await workspace.channels.get(invocation.channel);
    const account = await workspace.accounts.resolve(SCHEDULES, accountName, bound.account);
    const project = await showUnderField('project', () => findChosenProject(context, account, projectName));
    const formerEscalation = before?.kind === 'guard' ? before.escalation : undefined;
    const escalation = await readEscalation(context, filled, formerEscalation);
    return { kind: 'guard', cadence, zone, account: account.name, project, escalation } as const;
  },
} as const satisfies TimedFeature;

const guardRun = defineCommand({
  name: 'guard run',
  phrase: SCHEDULE_FACES.guard.phrase,
  shownAs: 'guard',
  synonyms: ['guard check', 'guard test'],
  phrases: { 'run|rerun|trigger|execute guard|guards of|for|on? *': '$1' },
  summary: 'Tests the project of a guard now',
  usage: '[id|project]',
  role: 'operator',
  durable: true,
  rest: true,
  args: z.object({ nameOrId: z.string().optional() }),
  async handle({ nameOrId }, context) {
    const { invocation, workspace } = context;
    const fits = (one: Schedule): boolean => !isAsleep(one);
    const guard = await resolveSchedule('guard', context, nameOrId, { done: 'run', fits });
    await expectAllowedThere(context, guard, 'guard run');
    const described = describeSchedule(guard, workspace.pages);
    if (guard.state.kind === 'paused')
      throw new UserError(`Paused ${whyPaused(guard.state)}: ${described}.`, 'guard resume');
    await runGuard(workspace, guard.id, invocation.requestId);
    const list = code(`${workspace.word} guard list`);
    const result = `You hear only if something is unreachable. ${list} has the result.`;
    const audit = describeChange('guard run', guard);
    const message = say(`:shield: <@${invocation.user}> started ${described}. ${result}`);
    if (guard.channel !== invocation.channel) return replyPrivately(message, audit);
    return { kind: 'channel', isDone: true, message, audit };
  },
});

/** Other words for `guard add`. */
const ADD_SYNONYMS = ['guard create', 'guard new', 'monitor'];

const guardSchedules = timedCommands(GUARD_FEATURE, {
  name: 'guard add',
  phrase: SCHEDULE_FACES.guard.phrase,
  shownAs: 'guard',
  synonyms: ADD_SYNONYMS,
  phrases: {
    'guard|monitor|protect +': '$1',
    'add|create|new|start|set guard|monitor|monitoring up|for|of|on? *': '$1',
    'check|test|probe|ping|monitor|guard|watch + hourly': '$1 hourly',
    'check|test|probe|ping|monitor|guard|watch + every|each|once hour|an hour?': '$1 hourly',
    'check|test|probe|ping|monitor|guard + (daily|weekdays|every|each) +': '$1 $2 $3',
    'check|test|probe|ping|monitor|guard (hourly|daily) +': '$2 $1',
    '(hourly|daily) test|tests|check|checks|guard of|for|on? +': '$2 $1',
    'schedule|plan|set up? a? test|tests|check|checks of|for|on? + (daily|hourly|weekdays|every|each) *':
      '$1 $2 $3',
    'check|test|probe|ping|monitor|guard + regularly|periodically|automatically|continuously|constantly':
      '$1',
  },
  summary: 'Tests a project on a schedule, silent while all is reachable, by these words or in a form',
  usage:
    '[project] [<daily|weekdays|weekly:<day>> <HH:MM> | hourly | cron:"<five fields>"] [zone] [--mention <@person|@group>] [--after <minutes>m]',
  examples: [
    'guard add storefront hourly',
    'guard add storefront weekdays 08:30 Europe/Lisbon',
    'guard add cron:"15 */4 * * *" UTC',
    'guard add storefront hourly --mention @oncall --after 1h',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: (words) => findCadenceIndex(words) < words.length,
  rest: true,
  flags: ['mention', 'after'],
  args: z.object({ words: z.string().optional(), ...ESCALATION_FLAGS }),
  async handle({ words, mention, after }, context) {
    const channel = expectChannel(context);
    // Before the form opens, which would hold them for a while.
    if (after !== undefined && mention === undefined) await readEscalation(context, { after });
    if (words === undefined) return openTimedForm(GUARD_FEATURE, channel, context, { mention, after });
    const typed = typedAfter(ADD_SYNONYMS, context.text);
    const begin = await findTimes(context, typed);
    const projectName = typed.slice(0, begin).join(' ') || undefined;
    const times = typed.slice(begin);
    if (times.length === 0) {
      const { account, project } = await resolveForForm(context, projectName);
      const target = { account: account.name, project };
      return openTimedForm(GUARD_FEATURE, channel, context, { mention, after }, target);
    }
    const { cadence, zone } = readCadenceWords(times, 'guard');
    const { account, project } = await resolveProject(context, projectName, SCHEDULES);
    return setUpTimed(GUARD_FEATURE, context, channel, {
      cadence,
      zone: zone ?? (await readZone(context.workspace, context.invocation.user)),
      account: account.name,
      project: project.permalink,
      mention,
      after,
    });
  },
});

/** Index of the first word about the times. A project may be called `hourly`. */
async function findTimes(context: CommandContext, typed: readonly string[]): Promise<number> {
  const [first = ''] = typed;
  const begin = findCadenceIndex(typed);
  const isName =
    begin === 0 && (await namesProject(context, await resolveAccount(context, SCHEDULES), first));
  return isName ? 1 + findCadenceIndex(typed.slice(1)) : begin;
}

export const guardCommands: readonly Command[] = guardSchedules.toSpliced(1, 0, guardRun);
