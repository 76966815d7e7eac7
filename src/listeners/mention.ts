import { z } from 'zod';
import type { EventHandler, SlackEvent } from '../commands/command.ts';
import { cleanCommandText } from '../commands/command-router.ts';
import { escapeMarkup } from '../core/mrkdwn.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { Inbox, StoredRequest } from './inbox.ts';
import { Id, MaybeId } from './payloads/schemas.ts';

/** Stores a mention as a command, which waits for those of its channel alone and is tried again like them. */
export function mentionHandler(inbox: () => Pick<Inbox, 'store'>): EventHandler {
  return async ({ workspace }, body) => {
    const mention = readMention(body);
    if (mention === undefined) return;
    const { request, clientId } = mention;
    // A client that sends its message again gets another `ts` under the same id.
    const { requestId } = request.caller;
    if (clientId !== undefined && !(await workspace.once(['mention', clientId], DAY_MS, requestId))) return;
    await inbox().store(workspace, request, {});
  };
}

const Ts = z.string().regex(/^\d{1,12}\.\d{1,12}$/);

const Mention = z.looseObject({
  user: Id,
  channel: Id,
  text: z.string(),
  ts: Ts,
  thread_ts: Ts.nullish().catch(undefined),
  client_msg_id: Id.nullish().catch(undefined),
  blocks: z.unknown().optional(),
  /** The person's own workspace, where it is another one. */
  user_team: MaybeId,
  bot_id: z.string().nullish(),
  subtype: z.string().nullish(),
  edited: z.unknown().optional(),
});

const Authorised = z.looseObject({
  authorizations: z.array(z.looseObject({ user_id: MaybeId, is_bot: z.boolean().nullish() })).nullish(),
});

/**
 * Reads a mention as if its words had been typed after the slash word. Returns undefined for those of apps, for edited
 * messages, which asked already, and for text that does not mention Deckhand. Inside a sentence the words are an aside.
 */
function readMention(body: SlackEvent): { request: StoredRequest; clientId: string | undefined } | undefined {
  const { data: event } = Mention.safeParse(body.event);
  if (event === undefined || !SUBTYPES.has(event.subtype ?? '') || event.bot_id || event.edited)
    return undefined;
  const { user, channel, ts, thread_ts: thread, user_team: team } = event;
  const words = readWords(richTextAsMrkdwn(event.blocks) ?? event.text, findBotUser(body));
  if (words === undefined) return undefined;
  const request: StoredRequest = {
    kind: 'command',
    caller: {
      user,
      channel,
      ...(thread ? { threadTs: thread } : {}),
      team,
      answerTs: thread ?? ts,
      // One message is one request, however many events tell of it.
      requestId: `mention ${channel} ${ts}`,
    },
    ...words,
  };
  return { request, clientId: event.client_msg_id ?? undefined };
}

/** Subtypes of messages that people post. */
const SUBTYPES: ReadonlySet<string> = new Set(['', 'file_share', 'me_message', 'thread_broadcast']);

const GREETING = /^\W*(?:hi|hello|hey|ok|okay|please)?\W*$/i;
const MAX_GREETING = 40;
const EMOJI_NAME = /:[\w+-]+:/g;

/** A mention with nothing before it but a greeting is a command. */
function isGreeting(before: string): boolean {
  return before.length <= MAX_GREETING && GREETING.test(before.replace(EMOJI_NAME, ''));
}

const LEADING = /^(?:[\s,:;!.•]|[*_~—–-]+(?=\s))+/;
/** The line is clean: its spaces are single. */
const COURTESY = /^(?:(?:please|pls|hi|hello|hey)(?:,? |$))+|,? (?:please|pls|thanks|thank you)$/gi;

/** As much as a command may have, and the names before it. */
const MAX_READ = 4_000;

const MENTION = /<@([A-Z0-9]+)(?:\|[^>]{0,80})?>/g;
const QUOTED_LINE = /^[ \t]*(?:&gt;|>).*$/gm;
/** Code blocks, inline code, quoted lines, and all that follows `>>>`. */
const ASIDE = /```[\s\S]*?```|`[^`\n]+`|^[ \t]*(?:&gt;&gt;&gt;|>>>)[\s\S]*|^[ \t]*(?:&gt;|>).*$/gm;

/**
 * Returns undefined where the bot is mentioned only in code or a quotation, or not at all. The words are those of the
 * first line after the mention that has any; if there is none on the mention's own line, what stands before it goes first.
 * @param bot any mention counts if it is undefined
 */
function readWords(message: string, bot: string | undefined): { text: string; isAside?: true } | undefined {
  const text = message.slice(0, MAX_READ);
  const isBot = ([, user]: RegExpMatchArray): boolean => bot === undefined || user === bot;
  const plain = text.replace(ASIDE, (aside) => aside.replace(/[^\n]/g, ' '));
  const mention = [...plain.matchAll(MENTION)].find(isBot);
  if (mention === undefined) return undefined;
  const before = text.slice(0, mention.index).split('\n').at(-1) ?? '';
  const lines = text
    .slice(mention.index + mention[0].length)
    .replaceAll(mention[0], ' ')
    .replace(QUOTED_LINE, '')
    .replaceAll('```', '\n')
    .split('\n')
    .map(readLine);
  if (isGreeting(before)) return { text: lines.find((line) => line !== '') ?? '' };
  return { text: lines[0] || readLine(before), isAside: true };
}

function readLine(line: string): string {
  return cleanCommandText(line.replace(LEADING, '')).replace(COURTESY, '');
}

/** The user id of Deckhand's bot, if the event names it. */
function findBotUser(body: SlackEvent): string | undefined {
  const { data } = Authorised.safeParse(body);
  const bot = data?.authorizations?.find(
    ({ user_id: id, is_bot: isBot }) => isBot !== false && id !== undefined && /^[A-Z0-9]+$/.test(id),
  );
  return bot?.user_id;
}

const Inline = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  name: z.string().optional(),
  user_id: z.string().optional(),
  channel_id: z.string().optional(),
  usergroup_id: z.string().optional(),
  style: z.looseObject({ code: z.boolean().optional() }).optional(),
});
const Part = z.looseObject({ type: z.string(), elements: z.array(z.looseObject({ type: z.string() })) });
const RichText = z.looseObject({ type: z.literal('rich_text'), elements: z.array(Part) });

/** What a person composed, with code and quotations marked. Undefined if the message has no rich text. */
function richTextAsMrkdwn(blocks: unknown): string | undefined {
  const { data: rich } = z.tuple([RichText], z.unknown()).safeParse(blocks);
  return rich?.[0].elements.map(partAsMrkdwn).join('\n');
}

function partAsMrkdwn({ type, elements }: z.infer<typeof Part>): string {
  const isList = type === 'rich_text_list';
  const text = elements
    .map((element) => {
      const item = isList ? Part.safeParse(element).data : undefined;
      return item === undefined ? inlineAsMrkdwn(element) : partAsMrkdwn(item);
    })
    .join(isList ? '\n' : '');
  if (type === 'rich_text_preformatted') return `\`\`\`${text}\`\`\``;
  return type === 'rich_text_quote' ? text.replace(/^/gm, '&gt; ') : text;
}

function inlineAsMrkdwn(element: unknown): string {
  const { data } = Inline.safeParse(element);
  if (data === undefined) return '';
  const { user_id: user, channel_id: channel, usergroup_id: group, text, url, name, style } = data;
  const isCode = style?.code === true;
  if (user !== undefined) return isCode ? `\`<@${user}>\`` : `<@${user}>`;
  if (channel !== undefined) return `<#${channel}>`;
  if (group !== undefined) return `<!subteam^${group}>`;
  if (url !== undefined) return `<${escapeMarkup(url)}${text === undefined ? '' : `|${escapeMarkup(text)}`}>`;
  if (text === undefined) return name === undefined ? '' : `:${name}:`;
  return isCode ? `\`${escapeMarkup(text)}\`` : escapeMarkup(text);
}
