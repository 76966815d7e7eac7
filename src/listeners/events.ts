import type { EntityPresentDetailsArguments } from '@slack/web-api';
import { z } from 'zod';
import type { EventHandler, SlackEvent } from '../commands/slack-event.ts';
import { cleanTypedText } from '../commands/typed-words.ts';
import { readDetails } from '../commands/unfurls/unfurl.ts';
import { type Audited, type Invocation, SlackTs } from '../core/message.ts';
import { escapeEntities } from '../core/mrkdwn.ts';
import { DAY_MS } from '../core/time/clock.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import { type Inbox, SEEN_MS, type StoredEvent, type StoredRequest } from './inbox.ts';
import { Id, MaybeId } from './payloads/schemas.ts';
import { createContext, handleRequest } from './pipeline/pipeline.ts';

const DetailsRequested = z.object({
  user: Id,
  trigger_id: z.string().min(1),
  entity_url: z.string(),
  channel: MaybeId,
});

/** Content of the pane, or the reason why it is empty. */
type Pane = Audited & Pick<EntityPresentDetailsArguments, 'metadata' | 'error'>;

/**
 * Fills the pane of a project's work object for the person who opened it. The trigger is a secret that expires within
 * seconds, so the event is not stored.
 */
export async function showDetails(workspaces: Workspaces, { about, body }: StoredEvent): Promise<void> {
  const { data } = DetailsRequested.safeParse(body.event);
  if (data === undefined) return;
  const workspace = await workspaces.admit(about).catch(undefinedIfNotServed);
  if (workspace === undefined || !(await workspace.once(['event', body.event_id], SEEN_MS))) return;
  const { user, channel, trigger_id, entity_url } = data;
  const invocation: Invocation = { user, channel, requestId: body.event_id };
  const context = createContext(workspace, invocation);
  const pane = await handleRequest<Pane>({
    kind: 'details',
    workspace,
    invocation,
    command: 'projects',
    what: 'details',
    role: 'member',
    handle: async () => ({ metadata: await readDetails(context, entity_url) }),
    explain: async (error) => ({
      error: {
        status: 'custom',
        custom_title: 'Nothing to show',
        custom_message: failureWords(context.explain(error, { job: 'work_object' })),
        message_format: 'markdown',
      },
    }),
  });
  try {
    await workspace.slack.call('entity.presentDetails', { trigger_id, ...pane });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    context.explain(error, { job: 'work_object' });
  }
}

/** Ignores an event of an installation that is not served, because Deckhand has no token to answer with. */
function undefinedIfNotServed(error: unknown): undefined {
  if (!(error instanceof NotServed)) throw error;
}

/** Stores a mention as a command, which keeps its order in the channel and is retried like one. */
export function createMentionHandler(inbox: () => Pick<Inbox, 'store'>): EventHandler {
  return async ({ workspace }, body) => {
    const mention = readMention(body, workspace.clock.now());
    if (mention === undefined) return;
    const { request, message, clientId } = mention;
    // A client that sends its message again gets another `ts` under the same id.
    if (clientId !== undefined && !(await workspace.once(['mention', clientId], MESSAGE_MS, message))) return;
    // An edit may come long after the first words were carried out.
    const isFirst = () => workspace.once(['mention with words', message], MESSAGE_MS, body.event_id);
    if (request.text !== '' && !(await isFirst())) return;
    await inbox().store(workspace, request, {});
  };
}

/** How long Deckhand knows which messages it has read. An older message counts no more, even if it is edited. */
const MESSAGE_MS = DAY_MS;

const Ts = SlackTs.pipe(z.string().regex(/^\d{1,12}\.\d{1,12}$/));

const Mention = z.looseObject({
  user: Id,
  channel: Id,
  text: z.string(),
  ts: Ts,
  thread_ts: Ts.nullish().catch(undefined),
  client_msg_id: Id.nullish().catch(undefined),
  blocks: z.unknown().optional(),
  /** The person's own workspace, if it is another one. */
  user_team: MaybeId,
  bot_id: z.string().nullish(),
  subtype: z.string().nullish(),
  edited: z.unknown().optional(),
});

const Authorised = z.looseObject({
  authorizations: z.array(z.looseObject({ user_id: MaybeId, is_bot: z.boolean().nullish() })).nullish(),
});

interface ReadMention {
  request: StoredRequest & { kind: 'command' };
  /** Identifies the message, whatever its text is now. */
  message: string;
  clientId: string | undefined;
}

/**
 * Reads a mention as if its words had been typed after the slash word. Inside a sentence the words are an aside. Returns
 * undefined for messages of apps, for edits of old messages or without words, and for text that does not mention Deckhand.
 */
function readMention(body: SlackEvent, now: number): ReadMention | undefined {
  const { data: event } = Mention.safeParse(body.event);
  if (event === undefined || !SUBTYPES.has(event.subtype ?? '') || event.bot_id) return undefined;
  const { user, channel, ts, thread_ts: thread, user_team: team } = event;
  const words = readWords(richTextAsMrkdwn(event.blocks) ?? event.text, findBotUser(body));
  if (words === undefined) return undefined;
  const isOld = Number(ts) * 1000 < now - MESSAGE_MS;
  if (event.edited && (isOld || words.text === '')) return undefined;
  const message = `mention ${channel} ${ts}`;
  const request: StoredRequest & { kind: 'command' } = {
    kind: 'command',
    invocation: {
      user,
      channel,
      ...(thread ? { threadTs: thread } : {}),
      team,
      answerTs: thread ?? ts,
      // Slack may send several events for one message. Words may be added by an edit.
      requestId: words.text === '' ? `${message} without words` : message,
    },
    ...words,
  };
  return { request, message, clientId: event.client_msg_id ?? undefined };
}

/** Subtypes of messages that people post. */
const SUBTYPES: ReadonlySet<string> = new Set(['', 'file_share', 'me_message', 'thread_broadcast']);

const GREETING = /^\W*(?:$|(?:hi|hello|hey|ok|okay|please)\W*$)/i;
const MAX_GREETING = 40;
const EMOJI_NAME = /:[\w+-]+:/g;

/** True if a mention after this text is a command: only a greeting may precede it. */
function isGreeting(before: string): boolean {
  return before.length <= MAX_GREETING && GREETING.test(before.replace(EMOJI_NAME, ''));
}

const LEADING = /^(?:[\s,:;!.•]|[*_~—–-]+(?=\s))+/;
const COURTESY = /^(?:(?:please|pls|hi|hello|hey)(?:,? |$))+|,? (?:please|pls|thanks|thank you)$/gi;

/** Longest command, with the names before it. */
const MAX_READ = 4_000;

const MENTION = /<@([A-Z0-9]+)(?:\|[^<>]{0,80})?>/g;
const QUOTED_LINE = /^[ \t]*(?:&gt;|>).*$/gm;
/** Code blocks, inline code, quoted lines, and everything after `>>>`. */
const ASIDE = /```[\s\S]*?```|`[^`\n]+`|^[ \t]*(?:&gt;&gt;&gt;|>>>)[\s\S]*|^[ \t]*(?:&gt;|>).*$/gm;

/**
 * Words of a mention: the first line after it that has any. Inside a sentence they are those of the mention's own line,
 * after it or else before it. Returns undefined unless the bot is mentioned outside code and quotations.
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
  return cleanTypedText(line.replace(LEADING, '')).replace(COURTESY, '');
}

/** User id of Deckhand's bot, if the event names it. */
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

/** A message's rich text, with code and quotations marked. Returns undefined if it has none. */
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
  if (url !== undefined)
    return `<${escapeEntities(url)}${text === undefined ? '' : `|${escapeEntities(text)}`}>`;
  if (text === undefined) return name === undefined ? '' : `:${name}:`;
  return isCode ? `\`${escapeEntities(text)}\`` : escapeEntities(text);
}
