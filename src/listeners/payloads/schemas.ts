import { type App, type Context, UnknownError } from '@slack/bolt';
import { z } from 'zod';
import { isObject } from '../../core/json.ts';
import { type KnownBlock, SlackTs } from '../../core/message.ts';
import type { Logger } from '../../observability/log.ts';
import { readMenuOption } from '../../views/blocks/make-blocks.ts';

/** Slack's payloads: their schemas, with only the parts that Deckhand reads, and the way to Bolt. */

/** An id of Slack. It becomes a key of the store, so it has only safe characters; a leading hyphen marks our own ids. */
export const Id = z.string().regex(/^(?!-)[^/\s\p{Cc}\p{Cs}]{1,64}$/u);
/** An id that may be missing; some senders leave the field empty instead. */
export const MaybeId = z
  .union([Id, z.literal('')])
  .nullish()
  .transform((id) => id || undefined);

/** Reads null as undefined. */
const Maybe = orUndefined(z.string());
const MaybeTs = orUndefined(SlackTs);

function orUndefined<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Longest text that Slack accepts in a field. */
const MAX_TYPED = 3_000;
const TriggerId = orUndefined(z.string().regex(/^\P{Cc}{0,200}$/u));
const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
/** A flag that forms send as a word. */
const IsOrganisation = z
  .union([z.boolean(), z.string()])
  .nullish()
  .transform((flag) => String(flag) === 'true');
const Named = orUndefined(z.looseObject({ id: Id }));

export const SlashBody = z.looseObject({
  command: z.string(),
  text: Text,
  team_id: MaybeId,
  enterprise_id: MaybeId,
  is_enterprise_install: IsOrganisation,
  user_id: Id,
  channel_id: Id,
  thread_ts: MaybeTs,
  trigger_id: TriggerId,
  response_url: Maybe,
});
export interface SlashBody extends z.infer<typeof SlashBody> {}

/** The blocks that we sent, as Slack returns them. Anything that is not a block is dropped. */
const Block = z
  .looseObject({ type: z.string(), block_id: z.string().optional(), element: z.looseObject({}).optional() })
  .refine(({ type, element }) => type !== 'input' || element !== undefined);
const Blocks = z
  .array(z.unknown())
  .nullish()
  .transform((all) => (all ?? []).filter((one): one is KnownBlock => Block.safeParse(one).success));
const Label = z.looseObject({ type: z.literal('plain_text'), text: z.string() });

const View = z.looseObject({
  id: Id,
  hash: Text,
  type: z.string(),
  /** Workspace that Deckhand is installed in; `team_id` is the person's. */
  app_installed_team_id: MaybeId,
  team_id: MaybeId,
  callback_id: Text,
  private_metadata: Text,
  state: z.unknown().optional(),
  blocks: Blocks,
  title: Label.catch({ type: 'plain_text', text: 'Deckhand' }),
  submit: Label.optional().catch(undefined),
  close: Label.optional().catch(undefined),
});

export interface View extends z.infer<typeof View> {}

export const Interaction = z.looseObject({
  team: orUndefined(z.looseObject({ id: MaybeId })),
  enterprise: Named,
  is_enterprise_install: IsOrganisation,
  user: z.looseObject({ id: Id, team_id: MaybeId }),
  trigger_id: TriggerId,
});

const ActionElement = z
  .looseObject({
    type: Maybe,
    action_id: z.string(),
    block_id: Text,
    value: Maybe,
    selected_option: z.looseObject({ value: z.string() }).nullish(),
    selected_user: Maybe,
    selected_conversation: Maybe,
  })
  .transform(({ type, action_id: actionId, block_id: blockId, value, ...chosen }) => {
    const option = chosen.selected_option?.value;
    if (type === 'overflow' && option !== undefined) return { blockId, ...readMenuOption(option) };
    const choice = value ?? option ?? chosen.selected_user ?? chosen.selected_conversation;
    return { actionId, blockId, value: choice };
  });

export const ActionBody = Interaction.extend({
  actions: z.tuple([ActionElement], z.unknown()),
  channel: Named,
  container: orUndefined(z.looseObject({ message_ts: MaybeTs, channel_id: MaybeId, thread_ts: MaybeTs })),
  message: orUndefined(z.looseObject({ ts: MaybeTs, thread_ts: MaybeTs, text: Text, blocks: Blocks })),
  view: orUndefined(View),
  response_url: Maybe,
});
export interface ActionBody extends z.infer<typeof ActionBody> {}

export const SubmissionBody = Interaction.extend({ view: View.extend({ callback_id: z.string() }) });
export interface SubmissionBody extends z.infer<typeof SubmissionBody> {}

/** A closed form, which is only acknowledged. Bolt looks for its listener by the callback id. */
const ClosedBody = z.looseObject({
  user: z.looseObject({ id: Id }),
  view: z.looseObject({ callback_id: z.string() }),
});

export const OptionsBody = Interaction.extend({
  action_id: z.string(),
  block_id: Text,
  value: Text.transform((typed) => typed.slice(0, MAX_TYPED)),
  view: orUndefined(View),
});
export interface OptionsBody extends z.infer<typeof OptionsBody> {}

export const ShortcutBody = Interaction.extend({
  callback_id: z.string(),
  channel: Named,
  message: z.looseObject({ text: Maybe }).nullish(),
  response_url: Maybe,
});
export interface ShortcutBody extends z.infer<typeof ShortcutBody> {}
export interface Interaction extends z.infer<typeof Interaction> {}

const Installation = z.looseObject({
  team_id: MaybeId,
  enterprise_id: MaybeId,
  is_enterprise_install: IsOrganisation,
});

export const ExecutedStep = z.looseObject({
  function: z.looseObject({ callback_id: z.string() }),
  inputs: z.unknown().optional(),
  function_execution_id: Id,
});

/** Events that are refused if a part is missing. The handlers parse all others. */
const EVENTS: Readonly<Record<string, z.ZodType>> = {
  app_home_opened: z.looseObject({ user: Id }),
  function_executed: ExecutedStep,
};

function isComplete(event: { type: string }): boolean {
  return !Object.hasOwn(EVENTS, event.type) || EVENTS[event.type]?.safeParse(event).success === true;
}

/** The envelope of the Events API. */
export const EventBody = Installation.extend({
  type: z.literal('event_callback'),
  event_id: Id,
  /** Seconds since the epoch; the current time if it is missing. */
  event_time: z
    .number()
    .nullish()
    .transform((seconds) => seconds ?? Math.floor(Date.now() / 1000)),
  authorizations: z.array(Installation).nullish(),
  event: z.looseObject({ type: z.string() }).refine(isComplete),
});
export interface EventBody extends z.infer<typeof EventBody> {}

const SHAPES: ReadonlyMap<unknown, z.ZodType> = new Map<unknown, z.ZodType>([
  ['block_actions', ActionBody],
  ['block_suggestion', OptionsBody],
  ['event_callback', EventBody],
  ['message_action', ShortcutBody],
  ['shortcut', ShortcutBody],
  ['view_closed', ClosedBody],
  ['view_submission', SubmissionBody],
]);

/** The schema of a payload by its `type`, which a command does not have. Returns undefined for a type that is unknown. */
function findShape(type: unknown): z.ZodType | undefined {
  return typeof type === 'string' ? SHAPES.get(type) : SlashBody;
}

/** An acknowledgement, with what Slack shows for it. */
export interface Ack {
  answer: unknown;
}

/**
 * Parses a payload and hands it to Bolt; listeners read the result with `parsedPayload`. Keeps the ack until all
 * listeners have returned: Bolt acknowledges an event before, but what changes something must be stored first.
 * @returns undefined if the payload is malformed
 * @throws errors of listeners, so that Slack sends the payload again
 */
export async function processPayload(
  app: App | undefined,
  body: Record<string, unknown>,
  log: Logger,
): Promise<Ack | undefined> {
  if (body.type === 'app_rate_limited') {
    // Slack sends it once a minute in place of a workspace's events.
    log.warn({ event: 'events_limited', workspace: JSON.stringify(body.team_id) }, 'Slack dropped events');
    return { answer: undefined };
  }
  const shape = findShape(body.type);
  if (shape === undefined) {
    log.info({ event: 'payload_unknown' }, 'Payload of an unknown type acknowledged');
    return { answer: undefined };
  }
  const acks: Ack[] = [];
  try {
    // Parsed before Bolt has it, because Bolt throws errors of its own on a payload without its parts.
    const customProperties = { shape, payload: shape.parse(body) };
    const ack = async (answer: unknown): Promise<void> => void acks.push({ answer });
    await app?.processEvent({ body: withoutNulls(body), ack, customProperties });
  } catch (error) {
    const cause = error instanceof UnknownError ? error.original : error;
    // Bolt itself throws a bare TypeError if a part that only Bolt reads has an unexpected type.
    if (!(cause instanceof z.ZodError) && !(error instanceof TypeError)) throw cause;
    log.warn({ event: 'payload_malformed', err: cause }, 'Malformed payload refused');
    return undefined;
  }
  return acks[0];
}

/** Bolt reads parts of a null, such as the id of `user`. */
function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  const { event, ...rest } = omitNulls(body);
  return event === undefined ? rest : { ...rest, event: isObject(event) ? omitNulls(event) : event };
}

function omitNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/**
 * The payload as it was parsed before Bolt had it.
 * @throws ZodError if Bolt took it for a payload of another type
 */
export function parsedPayload<Shape extends z.ZodType>(context: Context, shape: Shape): z.infer<Shape> {
  if (context.shape !== shape) throw new z.ZodError([]);
  return context.payload;
}
