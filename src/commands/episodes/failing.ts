import { z } from 'zod';
import type { Invocation, Message, Reply } from '../../core/message.ts';
import { projectId } from '../../core/project-ref.ts';
import { allows } from '../../records/channels.ts';
import type { PrivateList } from '../../views/episodes/episode-buttons.ts';
import {
  allFailingMessage,
  type FailingList,
  failingMessage,
  type ShownFailure,
} from '../../views/episodes/failing-message.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { resolveProjectOrServer } from '../targets/resolve-target.ts';
import { isEverything, isKnownProject } from '../targets/targets.ts';
import { readAllFailing, readFailing, readFollowers } from './read-failing.ts';

export const failing = defineCommand({
  name: 'failing',
  phrase: 'shows what happened, and what fails now',
  synonyms:
    `failures incident incidents outages outage status problems problem issues errors alerts alarms broken down
    red unreachable offline fires oncall on-call failed fails`.split(/\s+/),
  phrases: {
    'what|who|which|anything|something is|are|fails? failing|broken|down|red|wrong|unreachable|affected|burning|fire|on *':
      '',
    'what|which|anything fails|breaks *': '',
    'up|results|reachable': '',
    'is|are the? repo|repository|host|server|servers reachable|up|ok|there *': '',
    'investigate|details|debug|troubleshoot|diagnose|diagnosis|reason|reasons *': '',
    'server|servers|host|hosts status|health|state': '',
    'test|tests failed|fails|failing': '',
    'why did|does|is the? test|tests fail|failed|failing *': '',
    'last|latest test of|for|on? *': '$1',
    'last|latest? test|tests result|results of|for|on? *': '$1',
    'what is|was the? current|overall|general? status|state|situation': '',
    'current|overall|general status|state|situation|health': '',
    'call|wake|page oncall|on-call|somebody|someone': '',
    'leave|give|assign|hand it|this|that to *': '',
    'mark + as? resolved|fixed|done|closed|solved': '',
    '+ is|was fixed|resolved|solved|mended': '',
    'what|which projects|servers|things are|is failing|broken|down|red|unreachable *': '',
    'is|are|was anything|something|everything|it|all|things|there|any|we|they *': '',
    'anything|everything|something|all failing|broken|down|wrong|ok|okay|fine|green|red|up|burning|good *':
      '',
    'any|open|current|ongoing|active failures|problems|issues|incidents|outages|errors|alerts *': '',
    'why is|are + failing|down|broken|red|unreachable|not|failed *': '$1',
    'why did|does|do + fail|break|crash|go *': '$1',
    'why *': '',
    'who muted|silenced|quieted|snoozed *': '',
    'why is|are it|this|that|everything|we red|failing|broken|down|not *': '',
    'servers|projects|things down|broken|red|unreachable|failing': '',
    'is|are all? the|our|my? servers|projects|sites|everything|all|things|it ok|okay|fine|good|up|green|working|well':
      '',
    'why is|does it|everything|that|this *': '',
    'is|are anyone|anybody|someone|somebody|who on|looking|working *': '',
    'is|are + still? failing|down|broken|red|unreachable|failed|dead|not *': '$1',
    'since when is|are|does + *': '$1',
    'how long is|are|was|has|have + been? failing|down|broken|red *': '$1',
    'who is|was|are|handles|handling on|handling|fixing|working|responsible|looking|oncall|on-call|call|duty|at|into|for *':
      '',
    'who owns|handles|fixes|takes *': '',
    'who has it|this|that *': '',
    '+ is|are|looks|seems failing|broken|down|red|unreachable|dead|offline|not *': '$1',
    'last lines of|for|from|on? *': '$1',
    'on|duty call|duty|roster|schedule|rota? *': '',
    'failures|failing|incidents|incident|outages|outage|problems|issues|status|errors of|for|in|on|with? *':
      '$1',
    'close|resolve|resolved|fixed|done|solve|solved|dismiss|finish|finished|mitigated|release|unclaim|unassign|drop *':
      '',
    'hand|give|pass back|over|off|on *': '',
    'handover|handoff|assign *': '',
    'i am off|done|out *': '',
    'it works|is again|now|back *': '',
    'it is|was fixed|done|resolved|solved|ok|fine|over|back *': '',
    'page|pages|escalate|escalation|escalations *': '',
  },
  summary:
    'Shows what fails now in this channel, since when, and who is on it, or what fails in all accounts',
  usage: '[project|all]',
  role: 'member',
  rest: true,
  args: z.object({ scope: z.string().optional() }),
  handle: ({ scope }, context) => showFailing(scope, context),
  actions: [
    defineButton(z.object({}), {
      actionId: 'failing:closed',
      handle: async (_, context) => replyInPlace(await drawFailing(context, true)),
    }),
  ],
});

async function showFailing(scope: string | undefined, context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  if (scope === undefined) return replyPrivately(await drawFailing(context));
  const isAll = isEverything(scope) && !(await isKnownProject(context, scope));
  if (isAll) return replyPrivately(allFailingMessage(await readAllFailing(workspace, invocation.user)));
  const { account, project, server } = await resolveProjectOrServer(context, scope);
  const isMeant = ({ subject }: ShownFailure): boolean =>
    subject.account === account.name && subject.project === projectId(project);
  const now = await readFailing(workspace, invocation.user, invocation.channel);
  const failures = now.failures.filter(isMeant);
  if (failures.length > 0 && server === undefined)
    return replyPrivately(
      failingMessage({ ...now, failures, settled: [] }, [], {
        word: workspace.word,
        list: await readPrivateList('failing', workspace, invocation),
        channel: invocation.channel,
      }),
    );
  // The answer says what is deployed, and whether the latest deployment failed, whether anybody follows it here or not.
  const names = [project.permalink, server].filter((name) => name !== undefined).map((name) => `"${name}"`);
  return { kind: 'command', text: `last ${names.join(' ')} --account ${account.name}`, others: [] };
}

/** Lists the failures in the channel. @param isSettledShown true to list those that were closed too */
export async function drawFailing(context: CommandContext, isSettledShown = false): Promise<Message> {
  const { workspace, invocation } = context;
  const { user, channel } = invocation;
  const [now, followers, list] = await Promise.all([
    readFailing(workspace, user, channel),
    readFollowers(workspace, user, channel),
    readPrivateList('failing', workspace, invocation),
  ]);
  return failingMessage(now, followers, { word: workspace.word, list, channel, isSettledShown });
}

const LISTED_COMMANDS = ['watch', 'guard', 'test', 'quiet'];

/** The list of a person, who sees only what they may do in the channel. */
export async function readPrivateList(
  name: FailingList,
  { channels, roles }: Workspace,
  { user, channel }: Pick<Invocation, 'user' | 'channel'>,
): Promise<PrivateList> {
  const settings = await channels.get(channel);
  const commands = new Set(LISTED_COMMANDS.filter((command) => allows(settings, command)));
  return { name, user, isOperator: await roles.holds(user, 'operator'), commands };
}
