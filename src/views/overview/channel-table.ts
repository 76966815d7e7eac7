import type { RawTextElement, RichTextBlock, RichTextSection, TableBlock } from '@slack/types';
import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, listFirst, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { ScheduleKind } from '../../records/schedules.ts';
import { button, buttons, context, header, richText, safeUrl, say } from '../blocks/make-blocks.ts';
import { linkName } from '../blocks/page-links.ts';

/** A page of the table of all channels. */
export const ChannelPage = z.object({ filter: z.string().max(200), page: z.int().nonnegative() });
export interface ChannelPage extends z.infer<typeof ChannelPage> {}

/** A project or a pattern, with its page if it has one. The name is foreign text. */
export interface LinkedName {
  name: string;
  url: string | undefined;
}

/** The schedules of a channel for one account. Names are foreign text. */
export interface ChannelRow {
  channel: string;
  /** Undefined for a digest of every account. */
  account: string | undefined;
  /** Empty for the whole account. */
  projects: readonly LinkedName[];
  kinds: readonly ScheduleKind[];
  /** True if everything is paused. */
  isPaused: boolean;
  /** Time of the latest deployment, milliseconds since the epoch. */
  lastAt: number | undefined;
  failing: readonly LinkedName[];
}

/** Word that filters the channels in which something fails. */
export const FAILING_FILTER = 'failing';

const ROWS_ON_PAGE = 20;
const MAX_NAMES = 3;
const COLUMNS = ['Channel', 'Account', 'Projects', 'What', 'Last event', 'Failing'];

/** A table of all channels, in pages. */
export function channelTable(rows: readonly ChannelRow[], { filter, page }: ChannelPage): Message {
  const about = filter === '' ? '' : ` with ${code(filter, 60)}`;
  if (rows.length === 0 && filter === FAILING_FILTER) return say('Nothing fails in any channel.');
  if (rows.length === 0) return say(`Nothing is set up in any channel${about}.`);
  const pages = Math.ceil(rows.length / ROWS_ON_PAGE);
  const at = Math.min(page, pages - 1);
  const visible = rows.slice(at * ROWS_ON_PAGE, (at + 1) * ROWS_ON_PAGE);
  const channels = new Set(rows.map(({ channel }) => channel)).size;
  const failing = new Set(rows.flatMap((row) => row.failing.map(({ name }) => `${row.account} ${name}`)))
    .size;
  const title = `${count(channels, 'channel')}${about}, ${failing === 0 ? 'nothing fails' : `${count(failing, 'project')} failing`}`;
  const turn = (label: string, which: string, to: number) =>
    to >= 0 && to < pages && button(label, `list:page#${which}`, { value: { filter, page: to } });
  return {
    text: title,
    blocks: [
      header('What is set up, by channel'),
      context(title),
      drawTable(visible),
      ...buttons(turn('Earlier', 'earlier', at - 1), turn('More', 'more', at + 1)),
      ...(pages > 1 ? [context(`Page ${at + 1} of ${pages}`)] : []),
    ],
  };
}

/** "<#C1>, `acme`: Storefront, Billing API. Watch, guard. Failing: Storefront"; mrkdwn. */
export function describeRow({ channel, account, projects, kinds, isPaused, failing }: ChannelRow): string {
  const names = (all: readonly LinkedName[]): string =>
    listFirst(
      all.map(({ name, url }) => linkName(mrkdwn(name, 60), url)),
      MAX_NAMES,
    );
  const what = `${kinds.map(nameKind).join(', ')}${isPaused ? ', paused' : ''}`;
  const where = account === undefined ? 'every account' : code(account);
  return [
    `<#${channel}>, ${where}: ${projects.length === 0 ? 'all projects' : names(projects)} (${what})`,
    failing.length > 0 && `:red_circle: failing: ${names(failing)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

export function nameKind(kind: ScheduleKind): string {
  return kind === 'invoices' ? 'invoice notices' : kind;
}

function drawTable(rows: readonly ChannelRow[]): TableBlock {
  const heads = COLUMNS.map(drawText);
  return { type: 'table', rows: [heads, ...rows.map(drawCells)] };
}

function drawCells(row: ChannelRow): Array<RawTextElement | RichTextBlock> {
  const paused = row.isPaused ? ' (paused)' : '';
  return [
    richText({ type: 'channel', channel_id: row.channel }),
    drawText(row.account ?? 'every account'),
    row.projects.length === 0 ? drawText('all') : drawNames(row.projects),
    drawText(`${row.kinds.map(nameKind).join(', ')}${paused}`),
    row.lastAt === undefined ? drawText('—') : drawTime(row.lastAt),
    row.failing.length === 0 ? drawText('—') : drawNames(row.failing),
  ];
}

type Inline = RichTextSection['elements'][number];

/** The first names as links, and how many more. */
function drawNames(all: readonly LinkedName[]): RichTextBlock {
  const elements = all.slice(0, MAX_NAMES).flatMap(({ name, url }, at): Inline[] => {
    const text = sanitize(name, 40);
    const address = safeUrl(url);
    const element: Inline =
      address === undefined ? { type: 'text', text } : { type: 'link', url: address, text };
    return at === 0 ? [element] : [{ type: 'text', text: ', ' }, element];
  });
  const omitted = all.length - MAX_NAMES;
  const more: Inline[] = omitted > 0 ? [{ type: 'text', text: ` and ${omitted} more` }] : [];
  return richText(...elements, ...more);
}

function drawTime(at: number): RichTextBlock {
  const timestamp = Math.floor(at / 1000);
  const fallback = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  return richText({ type: 'date', timestamp, format: '{date_short_pretty} {time}', fallback });
}

function drawText(text: string): RawTextElement {
  return { type: 'raw_text', text };
}

/** Largest number of channels on App Home. */
const MAX_ON_HOME = 8;

/** The first channels as lines, those that fail first, because App Home has no tables. */
export function channelBlocks(rows: readonly ChannelRow[], word: string): KnownBlock[] {
  if (rows.length === 0) return [];
  const first = rows.toSorted(
    (one, other) => Number(other.failing.length > 0) - Number(one.failing.length > 0),
  );
  const rest = rows.length - MAX_ON_HOME;
  const lines = first.slice(0, MAX_ON_HOME).map(describeRow);
  return [
    header('All channels'),
    ...say(lines.join('\n')).blocks,
    ...(rest > 0 ? [context(`and ${rest} more: ${code(`${word} list all`)}`)] : []),
  ];
}
