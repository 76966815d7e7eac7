import { z } from 'zod';
import type { RegisteredApp } from '../registered-app.ts';
import { checkTrigger } from '../state/triggers.ts';
import type { Json } from '../state/types.ts';
import { workspaceOf } from '../state/workspaces.ts';
import { flag, structured, text } from '../web-api/args.ts';
import { refusal, SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod } from '../web-api/method.ts';

/** Work objects, as docs.slack.dev/messaging/work-objects-implementation describes them. */

const ENTITY_TYPES = ['file', 'task', 'incident', 'content_item', 'item'].map(
  (name) => `slack#/entities/${name}`,
);
const word = z.string().min(1);

const Action = z.strictObject({
  text: word,
  action_id: word.max(255),
  value: z.string().max(2000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  url: z.string().max(3000).optional(),
  accessibility_label: z.string().max(75).optional(),
  processing_state: z.looseObject({ enabled: z.boolean() }).optional(),
});

const named = { key: word, label: word };
const CustomField = z.discriminatedUnion('type', [
  z.strictObject({
    ...named,
    type: z.literal('string'),
    value: z.string(),
    tag_color: z.enum(['red', 'yellow', 'green', 'gray', 'blue']).optional(),
    link: z.url().optional(),
    long: z.boolean().optional(),
    format: z.literal('markdown').optional(),
  }),
  z.strictObject({ ...named, type: z.literal('integer'), value: z.number().int() }),
  z.strictObject({ ...named, type: z.literal('slack#/types/timestamp'), value: z.number().int() }),
]);

const Entity = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES),
  url: z.url(),
  app_unfurl_url: z.url().optional(),
  external_ref: z.strictObject({ id: word, type: word.optional() }),
  entity_payload: z
    .strictObject({
      attributes: z.strictObject({
        title: z.strictObject({ text: word }),
        display_type: z.string().optional(),
        display_id: z.string().optional(),
        product_name: z.string().optional(),
        metadata_last_modified: z.number().int().optional(),
      }),
      custom_fields: z.array(CustomField).optional(),
      display_order: z.array(z.string()).optional(),
      actions: z
        .strictObject({
          primary_actions: z.array(Action).max(2).optional(),
          overflow_actions: z.array(Action).max(5).optional(),
        })
        .optional(),
    })
    .refine(({ custom_fields: fields = [], display_order: order = [] }) => {
      const keys = fields.map(({ key }) => key);
      return new Set(keys).size === keys.length && order.every((key) => keys.includes(key));
    }, 'keys twice, or an order of others'),
});

/** @throws SlackError `code`, with each fault and its place */
export function readEntity(app: RegisteredApp, given: unknown, code: string): Json {
  const { data, error } = Entity.safeParse(given);
  if (!data) {
    throw refusal(
      code,
      error.issues.map(({ path, message }) => `${message} [json-pointer:/${path.join('/')}]`),
    );
  }
  if (app.entityTypes && !app.entityTypes.includes(data.entity_type))
    throw refusal(code, [`${data.entity_type} is not one of the app's entity types`]);
  return data;
}

const PresentError = z.looseObject({
  status: z.enum([
    'restricted',
    'internal_error',
    'not_found',
    'custom',
    'custom_partial_view',
    'timeout',
    'edit_error',
  ]),
  custom_title: z.string().optional(),
  custom_message: z.string().optional(),
  message_format: z.literal('markdown').optional(),
  actions: z.array(Action).optional(),
});

const PresentArgs = z.object({
  trigger_id: text,
  metadata: structured.optional(),
  user_auth_required: flag.optional(),
  user_auth_url: text.optional(),
  error: structured.pipe(PresentError).optional(),
});

export const presentDetailsMethod = defineMethod({
  name: 'entity.presentDetails',
  tier: 3,
  json: true,
  args: PresentArgs,
  run: present,
});

/** Fills the pane that the person opened. */
function present(call: Call, args: z.infer<typeof PresentArgs>): Json {
  const known = checkTrigger(call.world, args.trigger_id);
  const isOurs = typeof known === 'object' && call.workspaces.some(({ id }) => id === known.teamId);
  if (!isOurs) throw new SlackError('invalid_trigger_id');
  if (args.user_auth_required && !args.user_auth_url) throw new SlackError('user_auth_url_missing');
  const workspace = workspaceOf(call.world, known.seatId);
  const details =
    args.metadata === undefined ? undefined : readEntity(call.world.app, args.metadata, 'invalid_metadata');
  if (!details && !args.error && !args.user_auth_required) throw new SlackError('invalid_metadata');
  if (details && (details.external_ref as Json).id !== known.entityId)
    throw new SlackError('entity_metadata_does_not_match_trigger');
  const pane = workspace.panes.get(known.userId);
  if (!pane) return {};
  const { channel, ts, entity } = pane;
  workspace.panes.set(known.userId, {
    ...{ channel, ts, entity },
    ...(details ? { details } : {}),
    ...(args.error ? { error: args.error } : {}),
    ...(args.user_auth_required && args.user_auth_url ? { authUrl: args.user_auth_url } : {}),
  });
  call.world.changes.emit({ type: 'pane', team: workspace.id, user: known.userId });
  return {};
}
