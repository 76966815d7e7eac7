import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, capitalised, code } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Account } from '../../records/accounts.ts';
import type { Channel } from '../../records/channels.ts';
import type { Schedule } from '../../records/schedules.ts';
import { listBlocks, packed } from '../blocks/lists.ts';
import { button, buttons, context, headed, LIMITS, notes, say, section } from '../blocks/make-blocks.ts';
import type { PrivateList } from '../episodes/episode-buttons.ts';
import {
  type FailingNow,
  failureBlocks,
  failureTexts,
  listOldAges,
  settledWords,
} from '../episodes/failing-message.ts';
import { readFace } from '../schedules/faces.ts';
import { describeSchedule } from '../schedules/words.ts';

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
  /** The verb that begins its summary. Default: the title. */
  verb?: string;
  summary: string;
  commands: readonly HelpEntry[];
}

const TITLE = 'What Deckhand can do';

/** A line with a button for each group, and the commands behind it. @param groups those that the person may run */
export function helpMessage(groups: readonly HelpGroup[], word: string): Message {
  const lines = groups.flatMap((group) => {
    const names = listNames(group.commands);
    if (names.length === 0) return [];
    return [
      section(`*${group.verb ?? group.title}* ${group.summary}\n${names.join(', ')}`, groupButton(group)),
    ];
  });
  return headed(TITLE, ...lines, context(explainMore(word, 'test')));
}

function explainMore(word: string, example: string): string {
  return `${code(`${word} help ${example}`)} explains one, ${code(`${word} help all`)} lists all.`;
}

/** "`activity` `failing` shows what happened, and what fails now" */
function listPhrases(commands: readonly HelpEntry[]): string[] {
  const lines = Map.groupBy(commands, ({ phrase }) => phrase);
  return [...lines].flatMap(([phrase, own]) => {
    const names = new Set(own.map(({ name, shownAs = name }) => code(shownAs)));
    return phrase === undefined ? [] : [`${[...names].join(' ')} ${phrase}`];
  });
}

/** Maximum number of commands that a line of the overview names. */
const MAX_NAMED = 4;

function listNames(commands: readonly HelpEntry[]): string[] {
  const visible = commands.filter(({ phrase }) => phrase !== undefined);
  const names = [...new Set(visible.map(({ name, shownAs = name }) => code(shownAs)))];
  return names.length <= MAX_NAMED ? names : [...names.slice(0, MAX_NAMED - 1), '…'];
}

/** Commands of one group, a line for those that belong together. @param all the groups to choose from */
export function helpGroupMessage(group: HelpGroup, all: readonly HelpGroup[], word: string): Message {
  const title = `${group.verb ?? group.title} ${group.summary}`;
  const filled = all.filter(({ commands }) => commands.length > 0);
  const example = group.commands.find(({ phrase }) => phrase !== undefined)?.name ?? 'test';
  return headed(
    title,
    ...listBlocks(listPhrases(group.commands)),
    ...buttons(...filled.map(groupButton)),
    context(explainMore(word, example)),
  );
}

/** All commands, including those that the person may not run. */
export function helpAllMessage(groups: readonly HelpGroup[], word: string): Message {
  const tables = groups.flatMap(({ title, commands }) => [
    section(`*${title}*`),
    ...commandTable(commands, word),
  ]);
  const account = `${code('--account <name>')} picks an account if you have several.`;
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

function groupButton({ id, title }: HelpGroup): Button {
  return button(title, `help:group#${id}`, { value: { group: id } });
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
  failing?: (FailingNow & { list: PrivateList }) | undefined;
  /** Everything that the channel hears. Left out outside channels. */
  setUp?: readonly Schedule[] | undefined;
  /** For links. */
  pages?: Pages | undefined;
  /** True if Deckhand is not in the channel, as far as it may know. */
  isOutside?: boolean;
  isBilling?: boolean;
  isAdmin: boolean;
  isOperator: boolean;
  /** True if the service's sign-up is configured. */
  canSignUp: boolean;
}

/** The next step in this channel, which depends on what is set up. */
export function startMessage(view: StartView): Message {
  const [sentence, ...next] = chooseNextStep(view);
  const help = context(`${code(`${view.word} help`)} lists all commands.`);
  const { failures = [], settled = [], ages = [], list } = view.failing ?? {};
  const steps = failures.length === 0 ? next : next.map((step) => step && makePlain(step));
  const message = say(sentence, ...buttons(...steps), help);
  const more = settled.length === 0 ? [] : [settledWords({ failures, settled })];
  const below = notes(...more, ...listOldAges(ages).map((words) => `:hourglass: ${words}`));
  const rows = describeSetUp(view);
  const setUp = rows.length === 0 ? [] : [section(rows.join('\n'))];
  const text = [failureTexts(failures), ...rows, message.text].filter(Boolean).join(' ');
  const failing = list === undefined || failures.length === 0 ? [] : failureBlocks(failures, list);
  const blocks = [...failing, ...below, ...setUp, ...message.blocks];
  if (failing.length === 0 && setUp.length === 0) return { ...message, blocks };
  return { text, isTextWhole: true, blocks };
}

/** A failure comes first, so its button alone is the primary one. */
function makePlain({ style: _, ...plain }: Button): Button {
  return plain;
}

/** More rows are longer than a person reads here. */
const MAX_SET_UP = 5;

/** A row for each schedule of the channel; mrkdwn. */
function describeSetUp({ setUp = [], word, pages }: StartView): string[] {
  const rows = setUp.slice(0, MAX_SET_UP).map((schedule) => {
    const paused = schedule.state.kind === 'paused' ? ' It is paused.' : '';
    return `${readFace(schedule.kind).icon} ${capitalised(describeSchedule(schedule, pages))}.${paused}`;
  });
  const omitted = setUp.length - rows.length;
  if (rows.length === 0) return [];
  return [
    '*This channel hears:*',
    ...rows,
    ...(omitted > 0 ? [`And ${omitted} more: ${code(`${word} setup`)}.`] : []),
  ];
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
  if (view.isOutside) return inviteStep(view);
  if (view.setUp?.length === 0 && isOperator) return setUpStep(view);
  if (view.isBilling && !isOperator && view.channel.project === undefined) return billingStep(view);
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

function tryTestButton(label: string, isPrimary = true): Button {
  const style = isPrimary ? ({ style: 'primary' } as const) : {};
  return button(label, 'start:run#test', { ...style, value: { text: 'test' } });
}

function setUpStep({ word, channel: { project } }: StartView): Step {
  const about = project === undefined ? 'This channel' : `This channel is about ${bold(project.name)}, and`;
  return [
    `${about} hears nothing yet. Choose what it hears with ${code(`${word} setup`)}, or test a project with ${code(`${word} test`)}.`,
    button('Set up this channel', 'setup:open', { style: 'primary', value: {} }),
    tryTestButton(project === undefined ? 'Test a project' : 'Test access', false),
    project === undefined &&
      button('Show the projects', 'start:run#projects', { value: { text: 'projects' } }),
  ];
}

function inviteStep({ word }: StartView): Step {
  return [
    `Deckhand is not in this channel, so it can post nothing here. Type ${code('/invite @deckhand')}, and then ${code(word)} again.`,
  ];
}

function billingStep({ word }: StartView): Step {
  return [
    `You may see the invoices: ${code(`${word} invoices`)} lists them, ${code(`${word} invoices last quarter`)} sums them.`,
    button('Show the invoices', 'start:at-once#invoices', {
      style: 'primary',
      value: { text: 'invoices' },
    }),
  ];
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
 * @param fault reason for the question; escaped mrkdwn
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
