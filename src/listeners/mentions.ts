import { z } from 'zod';
import type { EventHandler, SlackEvent } from '../commands/command.ts';
import { cleanCommandText } from '../commands/command-router.ts';
import type { Inbox, StoredRequest } from './inbox.ts';
import { Id, MaybeId } from './payloads/schemas.ts';

/** Asks for a mention's words anew as a command, which waits for those of its channel alone and is tried again like them. */
export function mentionHandler(inbox: () => Pick<Inbox, 'store'>): EventHandler {
  return async ({ workspace }, body) => {
    const request = readMention(body);
    if (request !== undefined) await inbox().store(workspace, request, {});
  };
}

const Ts = z.string().regex(/^\d{1,12}\.\d{1,12}$/);

const Mention = z.looseObject({
  user: Id,
  channel: Id,
  text: z.string(),
  ts: Ts,
  thread_ts: Ts.nullish().catch(undefined),
  /** The person's own workspace, where it is another one. */
  user_team: MaybeId,
  bot_id: z.string().nullish(),
  subtype: z.string().nullish(),
  edited: z.unknown().optional(),
});

const Authorised = z.looseObject({
  authorizations: z.array(z.looseObject({ user_id: MaybeId })).nullish(),
});

/**
 * What a mention asks for, as if it had been typed after the slash word; undefined for those of apps, and for messages
 * that were edited, which asked already. Its words are those of the same line; inside a sentence they are an aside.
 */
function readMention(body: SlackEvent): StoredRequest | undefined {
  const { data: event } = Mention.safeParse(body.event);
  if (event === undefined || !SUBTYPES.has(event.subtype ?? '') || event.bot_id || event.edited)
    return undefined;
  const { user, channel, ts, thread_ts: thread, user_team: team } = event;
  const { before, after } = aroundMention(event.text, botOf(body));
  return {
    kind: 'command',
    caller: {
      user,
      channel,
      ...(thread ? { threadTs: thread } : {}),
      team,
      answerTs: thread ?? ts,
      // The event's own id marks the event as seen.
      requestId: `mention ${body.event_id}`,
    },
    text: cleanCommandText(after.replace(LEADING, '')).replace(COURTESY, ''),
    ...(isGreeting(before) ? {} : { isAside: true }),
  };
}

/** Those of what a person posts. */
const SUBTYPES: ReadonlySet<string> = new Set(['', 'file_share', 'me_message', 'thread_broadcast']);

const GREETING = /^\W*(?:hi|hello|hey|ok|okay|please)?\W*$/i;
const MAX_GREETING = 40;

/** A mention with nothing before it but a greeting is a command. */
function isGreeting(before: string): boolean {
  return before.length <= MAX_GREETING && GREETING.test(before);
}

const LEADING = /^[\s,:;!.]+/;
/** The line is clean: its spaces are single. */
const COURTESY = /^(?:(?:please|pls|hi|hello|hey),? )+|,? (?:please|pls|thanks|thank you)$/gi;

/** As much as a command may have, and the names before it. */
const MAX_READ = 4_000;

const MENTION = /<@([A-Z0-9]+)(?:\|[^>]{0,80})?>/g;

/** Where nothing follows it, what stands before it was meant. */
function aroundMention(said: string, bot: string | undefined): { before: string; after: string } {
  const text = said.slice(0, MAX_READ);
  const found = [...text.matchAll(MENTION)].find(([, user]) => bot === undefined || user === bot);
  if (found === undefined) return { before: '', after: text };
  const before = text.slice(0, found.index).split('\n').at(-1) ?? '';
  const after = text.slice(found.index + found[0].length).split('\n', 1)[0] ?? '';
  return after.trim() === '' && before.trim() !== '' ? { before, after: before } : { before, after };
}

/** Which of the names is Deckhand's. */
function botOf(body: SlackEvent): string | undefined {
  const { data } = Authorised.safeParse(body);
  return data?.authorizations?.find(({ user_id: id }) => id !== undefined && /^[A-Z0-9]+$/.test(id))?.user_id;
}
