import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import type { Channel } from '../../records/channels.ts';
import { packed } from '../blocks/lists.ts';
import { button, buttons, context, headed, LIMITS, notes, say, section } from '../blocks/message.ts';
import {
  type FailingNow,
  failureBlocks,
  failureTitles,
  listOldAges,
  settledWords,
} from '../episodes/failing.ts';

export interface HelpEntry {
  name: string;
  usage: string;
  summary: string;
  phrase: string | undefined;
  shownAs?: string;
  role: string;
  examples?: readonly string[];
}

export interface HelpGroup {
  id: string;
  title: string;
  summary: string;
  commands: readonly HelpEntry[];
}

const TITLE = 'What Deckhand can do';

/**
 * Few lines: one for commands that belong together, and a button for each group. @param groups the groups that
 * the person may run
 */
export function helpMessage(groups: readonly HelpGroup[], word: string): Message {
  const filled = groups.filter(({ commands }) => listPhrases(commands).length > 0);
  const parts = filled.map(({ title, commands }) =>
    section(`*${title}*  ${listPhrases(commands).join('\n')}`),
  );
  const more = `${code(`${word} help test`)} explains one, ${code(`${word} help all`)} lists all.`;
  return headed(TITLE, ...parts, ...groupButtons(filled), context(more));
}

function listPhrases(commands: readonly HelpEntry[]): string[] {
  const lines = Map.groupBy(commands, ({ phrase }) => phrase);
  return [...lines].flatMap(([phrase, own]) => {
    const names = new Set(own.map(({ name, shownAs = name }) => code(shownAs)));
    return phrase === undefined ? [] : [`${[...names].join(' ')} ${phrase}`];
  });
}

/** Commands of one group, with their usage. @param all the groups to choose from */
export function helpGroupMessage(group: HelpGroup, all: readonly HelpGroup[], word: string): Message {
  const title = `${group.title} ${group.summary}`;
  const filled = all.filter(({ commands }) => commands.length > 0);
  return headed(title, ...commandTable(group.commands, word), ...groupButtons(filled));
}

/** All commands, including those that the person may not run. */
export function helpAllMessage(groups: readonly HelpGroup[], word: string): Message {
  const tables = groups.flatMap(({ title, commands }) => [
    section(`*${title}*`),
    ...commandTable(commands, word),
  ]);
  const account = `${code('--account <name>')} picks an account where you have several.`;
  return headed(TITLE, ...tables, context(account));
}

/** Usage of commands, and the role that each needs. */
export function helpCommandMessage(commands: readonly HelpEntry[], word: string): Message {
  const blocks = commands.map((command) => {
    const who = command.role === 'member' ? 'everyone' : `the role *${command.role}*`;
    const examples = (command.examples ?? []).map((example) => `e.g. ${code(`${word} ${example}`)}`);
    const usage = `*${code(`${word} ${usageLine(command)}`, 200)}*`;
    return section([usage, command.summary, `For ${who}.`, ...examples].join('\n'));
  });
  return { text: `How to use ${commands.map(({ name }) => name).join(', ')}`, blocks };
}

/** The command's name and its arguments. */
export function usageLine({ name, usage }: Pick<HelpEntry, 'name' | 'usage'>): string {
  return usage === '' ? name : `${name} ${usage}`;
}

function groupButtons(groups: readonly HelpGroup[]): KnownBlock[] {
  return buttons(
    ...groups.map(({ id, title }) => button(title, `help:group#${id}`, { value: { group: id } })),
  );
}

function commandTable(commands: readonly HelpEntry[], word: string): KnownBlock[] {
  const lines = commands.map(
    (command) => `${code(`${word} ${usageLine(command)}`, 120)}  ${command.summary}`,
  );
  return packed(lines, LIMITS.sectionText - 100).map((text) => section(text));
}

export interface StartView {
  word: string;
  accounts: readonly Account[];
  channel: Channel;
  /** Undefined if the command `failing` is switched off in the channel. */
  failing?: FailingNow | undefined;
  isAdmin: boolean;
  isOperator: boolean;
  /** True if the service's sign-up is configured. */
  canSignUp: boolean;
}

/** The next step in this channel, which depends on what is set up. */
export function startMessage(view: StartView): Message {
  const [sentence, ...next] = chooseNextStep(view);
  const help = context(`${code(`${view.word} help`)} lists all commands.`);
  const message = say(sentence, ...buttons(...next), help);
  const { failures = [], settled = [], ages = [] } = view.failing ?? {};
  const more = settled.length === 0 ? [] : [settledWords({ failures, settled })];
  const below = notes(...more, ...listOldAges(ages).map((words) => `:hourglass: ${words}`));
  if (failures.length === 0) return { ...message, blocks: [...below, ...message.blocks] };
  const text = `${failureTitles(failures)}. ${message.text}`;
  return { text, blocks: [...failureBlocks(failures, 'start'), ...below, ...message.blocks] };
}

type Step = readonly [sentence: string, ...next: ReadonlyArray<Button | false>];

function chooseNextStep(view: StartView): Step {
  const { word, accounts, channel, isOperator } = view;
  const unverified = accounts.length === 1 && accounts[0]?.state === 'unverified' ? accounts[0] : undefined;
  const broken = accounts.find((account) => account.state === 'broken');
  if (accounts.length === 0) return connectStep(view);
  if (broken !== undefined) return reconnectStep(view, broken);
  if (unverified !== undefined)
    return [
      `:hourglass_flowing_sand: The e-mail address of the account ${code(unverified.name)} is not verified yet. Follow the link in the verification e-mail.`,
    ];
  if (channel.project !== undefined)
    return [
      `This channel is about ${bold(channel.project.name)}. Test that its repository and servers can be reached with ${code(`${word} test`)}.`,
      tryTestButton('Test access'),
    ];
  const any = code(`${word} test <project>`);
  return [
    isOperator
      ? `You are connected. Bind this channel to a project with ${code(`${word} use <project>`)}, or test any with ${any}.`
      : `You are connected. Test a project with ${any}.`,
    button('Show the projects', 'start:run#projects', { value: { text: 'projects' } }),
    tryTestButton('Test a project'),
  ];
}

function tryTestButton(label: string): Button {
  return button(label, 'start:run#test', { style: 'primary', value: { text: 'test' } });
}

function connectStep({ word, isAdmin, canSignUp }: StartView): Step {
  if (!isAdmin)
    return [`:wave: No account is connected yet. Ask an admin to run ${code(`${word} connect`)}.`];
  return [
    ':wave: No account is connected yet. Connect an account of your deployment service to begin.',
    button('Connect an account', 'connect:open', { style: 'primary', value: {} }),
    canSignUp && button('Create an account', 'signup:open'),
  ];
}

function reconnectStep(
  { word, isAdmin }: StartView,
  { name: account, purpose, isUnreadable }: Account,
): Step {
  const fault = isUnreadable === true ? 'cannot be read' : 'was revoked or rotated';
  const again = button('Connect again', 'connect:open', { style: 'primary', value: { account } });
  if (purpose === 'mine')
    return [
      `:warning: Your own key of ${code(account)} ${fault}. Connect it again with ${code(`${word} connect ${account}`)}, or remove it with ${code(`${word} disconnect ${account}`)}.`,
      again,
    ];
  return [
    `:warning: The key of ${code(account)} ${fault}. An admin can connect it again with ${code(`${word} connect ${account}`)}.`,
    isAdmin && again,
  ];
}

/** Tells the person who installed Deckhand what it does, and the first step. */
export function welcomeMessage(view: StartView): Message {
  const first = startMessage(view);
  const text = `:anchor: Deckhand is installed. You and the admins of this workspace can do everything until you set roles with ${code(`${view.word} roles`)}. Invite Deckhand to a channel with \`/invite\`.`;
  return { text: `${text} ${first.text}`, blocks: [section(text), ...first.blocks] };
}

interface Suggestion {
  text: string;
  isDurable: boolean;
}

/**
 * Likely commands for text that matches no command.
 * @param said reason for the question; escaped mrkdwn
 * @param thread thread for the reply to a mention
 */
export function suggestionsMessage(
  word: string,
  suggestions: readonly Suggestion[],
  { fault, thread }: { fault?: string | undefined; thread?: string | undefined },
): Message {
  const offered = suggestions.map(({ text, isDurable }, at) =>
    button(text, `${isDurable ? 'start:run' : 'start:at-once'}#${at}`, { value: { text, thread } }),
  );
  const help = context(`${code(`${word} help`)} lists all commands.`);
  return say(fault ?? 'Which of these did you mean?', ...buttons(...offered), help);
}

/**
 * A form opens only after a click, so the reply to a mention has a button.
 * @param thread the mention's thread
 */
export function openFormMessage(word: string, text: string, thread: string | undefined): Message {
  const open = button('Open the form', 'start:at-once', { style: 'primary', value: { text, thread } });
  return say(`${code(`${word} ${text}`)} opens a form.`, ...buttons(open));
}
