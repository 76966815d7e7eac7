import type { EntityPresentDetailsArguments } from '@slack/web-api';
import { z } from 'zod';
import type { EventHandler, SlackEvent } from '../commands/command.ts';
import { cleanCommandText } from '../commands/command-router.ts';
import { createContext } from '../commands/resolve-target.ts';
import { detailsOf } from '../commands/unfurls/unfurl.ts';
import type { Audited, Caller } from '../core/reply.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import { type Inbox, isFirst, type StoredRequest } from './inbox.ts';
import { readEvent } from './payloads/payloads.ts';
import { type EventBody, Id, MaybeId } from './payloads/schemas.ts';
import { carryOut } from './pipeline/pipeline.ts';

/**
 * Events that are answered by a handle in them, a secret that expires within seconds: they are stored nowhere, are carried
 * out after their ack, and end with the process.
 */
export const LIVE_EVENTS = { entity_details_requested: showDetails } as const;

interface LiveParts {
  workspaces: Workspaces;
  background: BackgroundWork;
}

/** False for any other payload. */
export function beginLiveEvent({ workspaces, background }: LiveParts, raw: unknown): boolean {
  const known = readEvent(raw, LIVE_EVENTS);
  if (known === undefined) return false;
  const { about, body } = known.event;
  background.begin(async () => {
    try {
      const workspace = await workspaces.admit(about);
      if (await isFirst(workspace, body.event_id)) await showDetails(workspace, body);
    } catch (error) {
      // Its handle cannot be answered by a token that is not of that installation.
      if (!(error instanceof NotServed)) throw error;
    }
  });
  return true;
}

const DetailsRequested = z.object({
  user: Id,
  trigger_id: z.string().min(1),
  entity_url: z.string(),
  channel: MaybeId,
});

/** What the pane shows, or why it shows nothing. */
type Pane = Audited & Pick<EntityPresentDetailsArguments, 'metadata' | 'error'>;

/** Fills the pane of a project's work object for the person who opened it. */
async function showDetails(workspace: Workspace, { event_id, event }: EventBody): Promise<void> {
  const { data: asked } = DetailsRequested.safeParse(event);
  if (asked === undefined) return;
  const { user, channel, trigger_id, entity_url } = asked;
  const caller: Caller = { user, channel, requestId: event_id };
  const context = createContext(workspace, caller);
  const pane = await carryOut<Pane>({
    kind: 'details',
    workspace,
    caller,
    command: 'projects',
    what: 'details',
    role: 'member',
    run: async () => ({ metadata: await detailsOf(context, entity_url) }),
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
