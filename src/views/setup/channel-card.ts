import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { describeList } from '../../core/message-text.ts';
import { capitalised, code, count, duration, joinNames, listFirst, mrkdwn } from '../../core/mrkdwn.ts';
import { isSameProject } from '../../core/project-ref.ts';
import type { Pages } from '../../core/service-pages.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import type { Quiet } from '../../records/quiets.ts';
import type { Guard, Schedule, ScheduleOf, Watch } from '../../records/schedules.ts';
import { inPages } from '../blocks/lists.ts';
import { button, buttons, notes, say, section } from '../blocks/make-blocks.ts';
import { projectLink } from '../blocks/page-links.ts';
import { describeQuietUntil } from '../episodes/quiet-messages.ts';
import {
  describeHandle,
  describeRhythm,
  filterWords,
  MODE_WORDS,
  patternWords,
} from '../schedules/details.ts';
import { readFace } from '../schedules/faces.ts';
import { nameSchedules, restWords, scheduleMenu } from '../schedules/schedule.ts';
import { scheduleWords } from '../schedules/words.ts';

/** More rows are longer than a person reads. *Show all* has the others. */
const MAX_ROWS = 20;
/** Length of the rows as JSON. Slack refuses messages whose blocks exceed some 13,000 characters. */
const MAX_ROWS_TEXT = 11_000;
const MAX_NAMES = 5;

/** Something else that holds for the whole channel. */
export interface CardNote {
  /** mrkdwn */
  text: string;
  button?: Button;
}

export interface ChannelView {
  /** Everything that is set up in the channel. */
  schedules: readonly Schedule[];
  notes?: readonly CardNote[];
  /** Undefined for a message without links. */
  pages?: Pages | undefined;
  /** True to name the account of each project, because there are several. */
  isAccountShown?: boolean;
}

type Naming = Pick<ChannelView, 'pages' | 'isAccountShown'>;

/** The channel's message about what is set up in it, with a menu for each schedule, and buttons for the whole. */
export function channelCard({ schedules, notes: ownNotes = [], ...naming }: ChannelView): Message {
  const sentence = describeChannel(schedules, naming);
  const rows = schedules.map((schedule) => drawRow(schedule, true, naming));
  const limits = { most: MAX_ROWS, room: MAX_ROWS_TEXT };
  const [page = []] = inPages(rows, limits, (row) => JSON.stringify(row).length);
  const omitted = rows.length - page.length;
  const isAny = schedules.length > 0;
  return {
    text: describeAloud([sentence, ...ownNotes.map(({ text }) => text)], schedules),
    isTextWhole: true,
    blocks: [
      section(`:gear: ${sentence}`),
      ...ownNotes.map((note) => section(note.text, note.button ?? false)),
      ...page,
      ...notes(omitted > 0 && `and ${omitted} more`),
      ...buttons(
        button('Change', 'setup:open', { value: {} }),
        isAny && button('Move…', 'setup:move', { value: {} }),
        omitted > 0 && button('Show all', 'setup:all', { value: {} }),
      ),
    ],
  };
}

/** Names what is quiet in a channel, until when and by whom, with *End now*. */
export function drawQuietNotes(channel: string, quiets: readonly Quiet[]): NonNullable<ChannelView['notes']> {
  return quiets.map((quiet) => ({
    text: `:no_bell: ${describeQuietUntil(quiet)}.`,
    button: button('End now', quiets.length === 1 ? 'quiet:end' : `quiet:end#${quiet.id}`, {
      value: { id: quiet.id, channel },
    }),
  }));
}

/** Everything that is set up in a channel, for one person. @param mayChange the menus that they may use */
export function channelList(
  schedules: readonly Schedule[],
  mayChange: (schedule: Schedule) => boolean,
  naming: Naming,
): Message {
  const sentence = describeChannel(schedules, naming);
  const rows = schedules.map((schedule) => drawRow(schedule, mayChange(schedule), naming));
  return {
    text: describeAloud([sentence], schedules),
    isTextWhole: true,
    blocks: [section(`:gear: ${sentence}`), ...rows],
  };
}

/** A line about all changes of a form. */
export function setUpLine(
  user: string,
  changes: Readonly<Record<'set up' | 'edited' | 'removed', readonly Schedule[]>>,
  note: string,
  pages: Pages,
): Message {
  const done = Object.entries(changes).filter(([, some]) => some.length > 0);
  const phrases = done.map(([verb, some]) => `${verb} ${nameSchedules(some, pages)}`);
  const line = `:gear: <@${user}> ${joinNames(phrases)}.`;
  return say([line, note].filter(Boolean).join(' '));
}

/** The answer to the person who changed something in the form. */
export function savedMessage(changes: number): Message {
  return say(`:gear: Saved: ${count(changes, 'change')}. The card of this channel shows what it has now.`);
}

/** An earlier card, whose place a newer one took. */
export function replacedCard(): Message {
  return say(':gear: What is set up in this channel is in a newer message below.');
}

/** Shows the card at the end of the channel. */
export function showCardButton(): Button {
  return button('Show the card here', 'setup:show', { value: {} });
}

function drawRow(schedule: Schedule, mayChange: boolean, { pages }: Naming): KnownBlock {
  const rest = restWords(schedule);
  const lines = [
    `${readFace(schedule.kind).icon} ${scheduleWords(schedule, pages)}`,
    ...(rest ? [rest] : []),
  ];
  return section(lines.join('\n'), mayChange && scheduleMenu({ schedule }, 'schedule:more'));
}

/** "This channel follows *Storefront*: failures, mention @oncall after 15 min. A guard tests it every hour."; mrkdwn. */
function describeChannel(schedules: readonly Schedule[], naming: Naming): string {
  if (schedules.length === 0) return 'Nothing is set up in this channel now.';
  const active = schedules.filter(({ state }) => state.kind === 'active');
  if (active.length === 0) return 'Everything that is set up in this channel is paused.';
  const watches = pick(active, 'watch');
  const [only, ...others] = watches;
  const subject = others.length === 0 ? only : undefined;
  const paused = schedules.length - active.length;
  return [
    ...describeWatches(watches, naming),
    ...describeGuards(pick(active, 'guard'), subject, naming),
    ...describeDigests(pick(active, 'digest')),
    ...describeNotices(pick(active, 'invoices')),
    ...describeOthers(active),
    ...(paused > 0 ? [`${count(paused, 'schedule')} ${paused === 1 ? 'is' : 'are'} paused.`] : []),
  ].join(' ');
}

function pick<K extends Schedule['kind']>(schedules: readonly Schedule[], kind: K): Array<ScheduleOf<K>> {
  return schedules.filter((one): one is Extract<Schedule, ScheduleOf<K>> => one.kind === kind);
}

function describeWatches(watches: readonly Watch[], naming: Naming): string[] {
  const groups = [...Map.groupBy(watches, describeHeard)].map(
    ([heard, some]) => `${listNames(some.map((watch) => nameWatched(watch, naming)))}: ${heard}`,
  );
  return groups.map((group, at) => (at === 0 ? `This channel follows ${group}.` : `It follows ${group}.`));
}

/** "failures, mention @oncall after 15 min" */
function describeHeard(watch: Watch): string {
  const { escalation, mode } = watch;
  const mention =
    escalation &&
    `, mention ${mrkdwn(describeHandle(escalation))} after ${duration(escalation.after * MINUTE_MS)}`;
  return `${MODE_WORDS[mode]}${filterWords(watch)}${mention ?? ''}`;
}

function nameWatched({ account, project, pattern }: Watch, naming: Naming): string {
  if (project !== undefined) return nameProject({ account, project }, naming);
  return `${pattern === undefined ? 'all projects' : patternWords(pattern)} of ${code(account)}`;
}

/** "Storefront", or "Storefront in acme"; mrkdwn. */
function nameProject(
  { account, project }: Pick<Guard, 'account' | 'project'>,
  { pages, isAccountShown = false }: Naming,
): string {
  const name = projectLink(pages, account, project, 60);
  return isAccountShown ? `${name} in ${code(account)}` : name;
}

function describeGuards(guards: readonly Guard[], subject: Watch | undefined, naming: Naming): string[] {
  return [...Map.groupBy(guards, describeRhythm)].map(([rhythm, some]) => {
    const isSubject = some.every(
      ({ account, project }) =>
        subject?.project !== undefined &&
        account === subject.account &&
        isSameProject(project, subject.project),
    );
    const names = some.map((guard) => nameProject(guard, naming));
    const what = isSubject ? 'it' : listNames(names);
    return `${some.length === 1 ? 'A guard tests' : 'Guards test'} ${what} ${rhythm}.`;
  });
}

function describeDigests(digests: readonly ScheduleOf<'digest'>[]): string[] {
  if (digests.length === 0) return [];
  const rhythms = listNames([...new Set(digests.map(describeRhythm))]);
  return [`${digests.length === 1 ? 'A digest' : `${digests.length} digests`} ${rhythms}.`];
}

function describeNotices(notices: readonly ScheduleOf<'invoices'>[]): string[] {
  if (notices.length === 0) return [];
  return [`Invoice notices of ${listNames(notices.map(({ account }) => code(account)))}.`];
}

/** Kinds with a sentence of their own. */
const TOLD: ReadonlySet<string> = new Set(['watch', 'guard', 'digest', 'invoices']);

/** "It has 2 reminders." */
function describeOthers(schedules: readonly Schedule[]): string[] {
  const others = schedules.filter(({ kind }) => !TOLD.has(kind));
  const counts = [...Map.groupBy(others, ({ kind }) => kind)].map(([kind, { length }]) => {
    const { noun, plural } = readFace(kind);
    return count(length, noun, plural);
  });
  return counts.length === 0 ? [] : [`It has ${listNames(counts)}.`];
}

/** "a, b and c"; of many the first ones. */
function listNames(names: readonly string[]): string {
  const unique = [...new Set(names)];
  if (unique.length > MAX_NAMES) return listFirst(unique, MAX_NAMES);
  return joinNames(unique);
}

/** The whole card for phones and screen readers: its sentences and its rows. */
function describeAloud(sentences: readonly string[], schedules: readonly Schedule[]): string {
  const start = sentences.join(' ');
  const [only, ...others] = schedules;
  // The sentence says all of it.
  const isWhole = others.length === 0 && (only === undefined || restWords(only) === undefined);
  return describeList(start, isWhole ? [] : schedules.map(describeRow));
}

function describeRow(schedule: Schedule): string {
  const { title } = readFace(schedule.kind);
  const rest = restWords(schedule);
  return `${capitalised(title)}: ${scheduleWords(schedule)}${rest === undefined ? '' : `. ${rest}`}`;
}
