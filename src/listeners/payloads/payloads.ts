import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import type { Caller } from '../../core/reply.ts';
import { readState } from '../../views/blocks/modal-state.ts';

/** Slack's payloads, parsed at the edge: only what is needed, and nothing is trusted to be there. */

/** Ids name records in the store, so nothing else may come in their place. */
export const Id = z.string().regex(/^[^/\s\p{Cc}]{1,64}$/u);
/** Some senders leave a field empty rather than out. */
export const MaybeId = z
  .union([Id, z.literal('')])
  .nullish()
  .transform((id) => id || undefined);
const TriggerId = z.string().regex(/^\P{Cc}{1,200}$/u);
const Team = z.looseObject({ id: Id.nullish() }).nullish();
const Enterprise = z.looseObject({ id: Id }).nullish();

export const SlashBody = z.looseObject({
  command: z.string(),
  text: z.string().default(''),
  team_id: MaybeId,
  enterprise_id: MaybeId,
  is_enterprise_install: z.union([z.boolean(), z.string()]).nullish(),
  user_id: Id,
  channel_id: Id,
  thread_ts: z.string().nullish(),
  trigger_id: TriggerId.nullish(),
  response_url: z.string().nullish(),
});
export type SlashBody = z.infer<typeof SlashBody>;

/** Slack gives back the blocks that we sent; what is none is left out rather than met later. */
const Block = z.looseObject({ type: z.string(), block_id: z.string().optional() });
const Blocks = z
  .array(z.unknown())
  .default([])
  .transform((all) => all.filter((one) => Block.safeParse(one).success));
const Title = z.looseObject({ type: z.literal('plain_text'), text: z.string() });

const View = z.looseObject({
  id: Id,
  hash: z.string().default(''),
  type: z.string(),
  callback_id: z.string().default(''),
  private_metadata: z.string().default(''),
  state: z.unknown().optional(),
  blocks: Blocks,
  title: Title.catch({ type: 'plain_text', text: 'Deckhand' }),
  submit: z.unknown().optional(),
  close: z.unknown().optional(),
});

type View = z.infer<typeof View>;

const Interaction = z.looseObject({
  team: Team,
  enterprise: Enterprise,
  is_enterprise_install: z.boolean().nullish(),
  user: z.looseObject({ id: Id, team_id: MaybeId }),
  trigger_id: TriggerId.nullish(),
});

const ActionElement = z.looseObject({
  action_id: z.string(),
  block_id: z.string().default(''),
  value: z.string().nullish(),
  selected_option: z.looseObject({ value: z.string() }).nullish(),
  selected_user: z.string().nullish(),
  selected_conversation: z.string().nullish(),
  action_ts: z.string().default(''),
});

export const ActionBody = Interaction.extend({
  actions: z.array(ActionElement).min(1),
  channel: z.looseObject({ id: Id }).nullish(),
  container: z.looseObject({ message_ts: z.string().nullish(), channel_id: MaybeId }).nullish(),
  message: z
    .looseObject({
      ts: z.string().nullish(),
      thread_ts: z.string().nullish(),
      text: z.string().default(''),
      blocks: Blocks,
    })
    .nullish(),
  view: View.nullish(),
  response_url: z.string().nullish(),
});
export type ActionBody = z.infer<typeof ActionBody>;

export const SubmissionBody = Interaction.extend({ view: View });
export type SubmissionBody = z.infer<typeof SubmissionBody>;

export const OptionsBody = Interaction.extend({
  action_id: z.string(),
  block_id: z.string().default(''),
  value: z.string().default(''),
  channel: z.looseObject({ id: Id }).nullish(),
  view: View.nullish(),
});
export type OptionsBody = z.infer<typeof OptionsBody>;

export const ShortcutBody = Interaction.extend({
  callback_id: z.string(),
  channel: z.looseObject({ id: Id }).nullish(),
  message: z
    .looseObject({
      text: z.string().nullish(),
      blocks: z.unknown().optional(),
      attachments: z.unknown().optional(),
    })
    .nullish(),
  response_url: z.string().nullish(),
});
export type ShortcutBody = z.infer<typeof ShortcutBody>;

/** Every modal's metadata may say where it came from, so that its outcome is told there. */
const Origin = z.looseObject({ channel: z.string().optional(), thread: z.string().optional() });

/** Who asks, and the installation it belongs to. */
export interface Incoming {
  workspace: string;
  caller: Caller;
}

export function incomingSlash(body: SlashBody): Incoming {
  const workspace = workspaceOf(
    body.enterprise_id,
    body.team_id,
    String(body.is_enterprise_install) === 'true',
  );
  const caller = {
    user: body.user_id,
    channel: body.channel_id,
    threadTs: body.thread_ts ?? undefined,
    triggerId: body.trigger_id ?? undefined,
    responseUrl: body.response_url ?? undefined,
    requestId: requestIdOf(body),
  };
  return { workspace, caller };
}

export function incomingInteraction(
  body: z.infer<typeof Interaction> & { view?: View | null | undefined },
): Incoming {
  const origin = originOf(body.view?.private_metadata);
  const action = ActionBody.safeParse(body).data;
  const team = body.team?.id ?? body.user.team_id;
  const workspace = workspaceOf(body.enterprise?.id, team, body.is_enterprise_install === true);
  const caller = {
    user: body.user.id,
    channel: action?.channel?.id ?? action?.container?.channel_id ?? origin.channel,
    messageTs: action?.message?.ts ?? action?.container?.message_ts ?? undefined,
    threadTs: action?.message?.thread_ts ?? origin.thread,
    triggerId: body.trigger_id ?? undefined,
    responseUrl: action?.response_url ?? undefined,
    requestId: requestIdOf(body),
  };
  return { workspace, caller };
}

/** Without Slack's own id nothing tells a repeat from a second request: each counts as new. */
function requestIdOf(body: { trigger_id?: string | null | undefined }): string {
  return body.trigger_id || randomUUID();
}

/** A message's shortcut is answered where the message is, in nobody's thread; a global one has no place. */
export function incomingShortcut(body: ShortcutBody): Incoming {
  const { workspace, caller } = incomingInteraction({ ...body, view: null });
  const here = { channel: body.channel?.id, responseUrl: body.response_url ?? undefined };
  return { workspace, caller: { ...caller, ...here, messageTs: undefined, threadTs: undefined } };
}

const MOST_SAID = 8_000;

/** All text of a message, wherever it stands in it: applications speak in blocks and attachments. */
export function saidIn({ message }: ShortcutBody): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  if (message) collect([message.text, message.blocks, message.attachments]);
  return texts.join('\n').slice(0, MOST_SAID);
}

export function viewStateOf(view: View): {
  values: ReturnType<typeof readState>;
  metadata: string;
  view: ModalView & { id: string; hash: string };
} {
  return {
    values: readState(view.state),
    metadata: view.private_metadata,
    // Slack gives back the view that we sent, so its blocks are ours.
    view: view as unknown as ModalView & { id: string; hash: string },
  };
}

export function messageOf(body: ActionBody): Message | undefined {
  if (!body.message) return undefined;
  return { text: body.message.text, blocks: body.message.blocks as KnownBlock[] };
}

/** An organisation's installation serves all its workspaces; otherwise each workspace has its own. */
export function workspaceOf(
  enterprise: string | null | undefined,
  team: string | null | undefined,
  isEnterpriseInstall: boolean,
): string {
  return (isEnterpriseInstall ? (enterprise ?? team) : (team ?? enterprise)) ?? 'unknown';
}

function originOf(metadata: string | undefined): z.infer<typeof Origin> {
  try {
    return Origin.parse(JSON.parse(metadata || '{}'));
  } catch {
    // Metadata that is not ours tells nothing about the origin.
    return {};
  }
}
