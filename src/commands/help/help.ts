import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { isDirect, type Message, type Reply } from '../../core/message.ts';
import { allows } from '../../records/channels.ts';
import { listSetUp } from '../../scheduler/setup/show-channel-card.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import type { FailingList } from '../../views/episodes/failing-message.ts';
import {
  helpAllMessage,
  helpCommandMessage,
  helpGroupMessage,
  helpMessage,
  startMessage,
} from '../../views/help/help-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton, defineMenu } from '../action.ts';
import { askAccessAction } from '../admin/access.ts';
import { type Command, type CommandGroup, defineCommand } from '../command.ts';
import { routeCommand, unknownCommand } from '../command-router.ts';
import type { CommandContext } from '../context.ts';
import { drawFailing, readPrivateList } from '../episodes/failing.ts';
import { failureTest } from '../episodes/failure-actions.ts';
import { failureLog, failureShareLog } from '../episodes/failure-log.ts';
import { closeForm, ownerActions } from '../episodes/owner-actions.ts';
import { readFailing } from '../episodes/read-failing.ts';
import { findLikelyCommands } from '../likely-commands.ts';
import { runnable } from '../permission.ts';
import type { Phrases } from '../phrases.ts';
import { listReadings } from '../readings.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

/** Sentences for `help`. */
const HELP_PHRASES: Phrases = {
  'usage|manual|docs|documentation|faq|support|options|man|tutorial|guide|features|capabilities|examples|info|stuck':
    '',
  'how do|can|could|to|does|should|would|might i|you|we|one|it|this|deckhand? *': '$1',
  'do|should|must|may i|we|one need|have? to|any? +': '$1',
  'how does|do this|it|that|deckhand|you|everything work|function|go *': '',
  'mention|escalate *': 'watch',
  'how about|come *': '',
  'what can|do|could|does|are|is you|i|we|it|this|deckhand|your|the? do|does|commands|options|say|type|ask|for|offer *':
    '',
  'what is|are|does|means a|an|the? watch|watches|watching mean|do|for?': 'watch',
  'what is|are|does|means a|an|the? guard|guards mean|do|for?': 'guard',
  'what is|are|does|means a|an|the? digest|digests mean|do|for?': 'digest',
  'what is|are|does|means a|an|the? setup|unfurl|role|escalation|ledger mean|do|for?': '',
  'who|what are you': '',
  'explain|more|contact|privacy|export|backup *': '',
  'help|explain|describe me|us? with|about|how|on +': '$1',
  'teach|show|tell me|us how *': '$1',
  'i need|am lost|help|stuck|confused *': '',
  'show|list|all|available commands|options|features *': '',
  'bug|feedback|complaint|suggestion *': '',
  'report bug|problem *': '',
  'man|usage|docs|documentation|manual of|for|on? +': '$1',
  'too|so many|much messages|notifications|alerts|posts|noise *': 'quiet',
  'maintenance|downtime|ignore *': 'quiet',
  'leave|uninstall|unsubscribe|kick|evict *': 'pause',
  'go away *': 'pause',
};

/** @param groups a function, because a group contains this command */
export function createHelp(groups: () => readonly CommandGroup[]): Command {
  return defineCommand({
    name: 'help',
    phrase: undefined,
    synonyms: ['commands'],
    phrases: HELP_PHRASES,
    summary: 'Shows what Deckhand can do, or how one command is used',
    usage: '[command|all]',
    role: 'member',
    rest: true,
    args: z.object({ command: z.string().optional() }),
    async handle(args, context) {
      const { word } = context.workspace;
      const topic = readTopic(args.command);
      if (topic === 'all') return replyPrivately(helpAllMessage(groups(), word));
      const own = await listRunnable(groups(), context);
      if (topic === undefined) return replyPrivately(helpMessage(own, word));
      const all = groups().flatMap(({ commands }) => commands);
      const matches = all.filter(
        ({ name }) => [topic, `un${topic}`].includes(name) || name.startsWith(`${topic} `),
      );
      const synonym = routeCommand(all, topic)?.command;
      const described = matches.length === 0 && synonym !== undefined ? [synonym] : matches;
      if (described.length > 0) return replyPrivately(helpCommandMessage(described, word));
      const group = own.find(({ title, id }) => [title.toLowerCase(), id.replace('-', '')].includes(topic));
      const isSentence = topic.includes(' ');
      if (group === undefined && isSentence) return replyPrivately(explainSentence(all, own, topic, word));
      if (group === undefined) throw new UserError(unknownCommand(all, topic).message, 'help');
      return replyPrivately(helpGroupMessage(group, own, word));
    },
    actions: [
      defineButton(z.object({ group: z.string() }), {
        actionId: 'help:group',
        async handle({ group: topic }, context) {
          const own = await listRunnable(groups(), context);
          const group = own.find(({ id }) => id === topic);
          if (group === undefined) throw new UserError('There is no such group of commands.', 'help');
          return replyInPlace(helpGroupMessage(group, own, context.workspace.word));
        },
      }),
    ],
  });
}

/** "help me" asks for help, and hardly ever for the command `me`. */
function readTopic(text: string | undefined): string | undefined {
  const topic = text?.toLowerCase();
  return topic === 'me' || topic === 'us' ? undefined : topic;
}

/** Explains the command that a sentence is about, else everything. */
function explainSentence(
  all: readonly Command[],
  own: readonly CommandGroup[],
  sentence: string,
  word: string,
): Message {
  const [reading] = listReadings(all, { text: sentence, isQuestion: false });
  const [likely] = findLikelyCommands(all, sentence);
  const command = reading?.matched.command ?? routeCommand(all, likely?.text ?? '')?.command;
  return command === undefined ? helpMessage(own, word) : helpCommandMessage([command], word);
}

/** Groups with the commands that the person may run here. */
async function listRunnable(
  groups: readonly CommandGroup[],
  { workspace, invocation }: CommandContext,
): Promise<readonly CommandGroup[]> {
  const all = groups.flatMap(({ commands }) => commands);
  const own = new Set(await runnable(workspace, invocation, all));
  return groups.map((group) => ({
    ...group,
    commands: group.commands.filter((command) => own.has(command)),
  }));
}

/** `thread`: the thread of the mention that the button answers. */
const Typed = z.object({ text: z.string(), thread: z.string().optional() });

/** The command of a bare slash word: the next steps in this channel. */
export const start = defineCommand({
  name: 'start',
  phrase: undefined,
  phrases: {
    'hello|hi|hey|hola|howdy|yo|greetings|morning|hallo|welcome|thanks|thx|thankyou|ty|cheers|nice|great|ok|okay|cool|ta|danke|merci|gracias|works':
      '',
    'good|bye|list|menu|home|begin|next|now|show|get|dashboard|what|yes|no|setups|everything|open': '',
    'hello|hi|hey|hola|howdy|good|morning|thanks|thank|thx|cheers|bye|well|nice|great|ok you|there|deckhand|bot|all|everybody|team|morning|afternoon|evening|day|night|bye|job|work|done|so|much|a|lot? *':
      '',
    'what now|next|else|should *': '',
    'get|getting started *': '',
    'where do|can|should i|we start|begin *': '',
    'wake up': '',
    'who is|are|gets|get|hears|hear notified|alerted|told|mentioned|alerts|notifications|alert|notification *':
      '',
    'onboarding|cancel|nevermind|sorry|oops': '',
    'never|no mind|worries|problem': '',
    'show|get|see|display all *': '',
    'list|show|get|see|display schedules|schedule|everything|subscriptions|setup|configuration|rules|what *':
      '',
    'what|which am|are|do|does i|we|this|here channel? watching|following|follow|watch|hear|subscribed *': '',
    'what is|are|do|did|does set|configured|watched|followed|scheduled|we|this|you|monitored|subscribed *':
      '',
    'setup|schedule|schedules|subscriptions list|show|here|status|get *': '',
    'schedules|configuration': '',
    'where am i': '',
    'remove|delete +': '',
    'clear|reset|undo|refresh|reload|update|sync|resync *': '',
    'tomorrow|tonight|later|soon|upcoming *': '',
    'next|this week|weekend|month': '',
    'what about|is|happens tomorrow|tonight|next *': '',
    'what is|does|do this|the? channel *': '',
    'join|invite|come *': '',
  },
  summary: 'Shows what to do next in this channel, as the slash word alone does',
  role: 'member',
  isHarmless: true,
  handle: async (_, context) => ({ kind: 'private', message: await drawStart(context) }),
  actions: [
    // Refusals of every command have this button, in every channel.
    askAccessAction,
    // Under watches and guards, and allowed in the same channels.
    ...ownerActions(drawList),
    failureTest,
    failureLog,
    failureShareLog,
    defineButton(Typed, { actionId: 'start:run', durable: true, handle: handleTyped }),
    defineMenu('start:choose', (chosen, typed) => ({ text: `${typed} ${chosen}` })),
    // For commands that open a form, and cannot be stored first, and for commands that only read.
    defineButton(Typed, { actionId: 'start:at-once', handle: handleTyped }),
  ],
  submissions: [closeForm(drawList)],
});

function drawList(list: FailingList, context: CommandContext): Promise<Message> {
  return list === 'start' ? drawStart(context) : drawFailing(context);
}

/** The next step in this channel, below its failures. */
async function drawStart(context: CommandContext): Promise<Message> {
  const { invocation, workspace } = context;
  const { user } = invocation;
  const channel = await workspace.channels.get(invocation.channel);
  const isShown = invocation.channel !== undefined && allows(channel, 'failing');
  const { word, config } = workspace;
  return startMessage({
    word,
    pages: workspace.pages,
    channel,
    accounts: await workspace.accounts.list(invocation),
    ...(invocation.channel === undefined ? {} : await readPlace(workspace, invocation.channel)),
    failing: isShown
      ? {
          ...(await readFailing(workspace, user, invocation.channel)),
          list: await readPrivateList('start', workspace, invocation),
        }
      : undefined,
    isAdmin: await workspace.roles.holds(user, 'admin'),
    isOperator: await workspace.roles.holds(user, 'operator'),
    isBilling: await workspace.roles.holds(user, 'billing'),
    canSignUp: config.SERVICE_SIGNUP_URL !== undefined,
  });
}

/** Reads what a channel hears, and whether Deckhand is in it, if Slack tells. */
async function readPlace(workspace: Workspace, channel: string) {
  const setUp = await listSetUp(workspace, channel);
  if (setUp.length > 0 || isDirect(channel)) return { setUp };
  const info = await undefinedOnSlackError(workspace.slack.call('conversations.info', { channel }));
  return { setUp, isOutside: info?.channel?.is_member === false };
}

/** Runs a command line as if a person had typed it. Deckhand then checks the command's own role. */
async function handleTyped(typed: z.infer<typeof Typed>): Promise<Reply> {
  return { kind: 'command', ...typed };
}
