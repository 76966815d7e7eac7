import { z } from 'zod';

/**
 * What Slack takes as the manifest of an app, as far as Deckhand uses it: keys, lengths and counts, and what must go
 * together. A key that Slack does not know makes it refuse the whole manifest, so every object is strict.
 */
const text = (longest: number) => z.string().min(1).max(longest);
const httpsAddress = (longest: number) => z.url({ protocol: /^https$/ }).max(longest);
const names = (most: number) =>
  z
    .array(text(50))
    .max(most)
    .refine((list) => new Set(list).size === list.length, 'names something twice');

const parameter = z.strictObject({
  name: text(255),
  title: text(255),
  description: z.string(),
  type: z.enum([
    'string',
    'integer',
    'number',
    'boolean',
    'slack#/types/channel_id',
    'slack#/types/options_select',
    'slack#/types/user_id',
  ]),
  is_required: z.boolean(),
  dynamic_options: z
    .strictObject({
      function: z.string().startsWith('#/functions/'),
      inputs: z.record(z.string(), z.strictObject({ value: z.string() })),
    })
    .optional(),
});

const features = z.strictObject({
  bot_user: z.strictObject({ display_name: text(80), always_online: z.boolean().optional() }),
  app_home: z.strictObject({
    home_tab_enabled: z.boolean(),
    messages_tab_enabled: z.boolean(),
    messages_tab_read_only_enabled: z.boolean(),
  }),
  slash_commands: z
    .array(
      z.strictObject({
        command: z.string().regex(/^\/\S{1,31}$/),
        description: text(2000),
        usage_hint: text(1000).optional(),
        url: httpsAddress(3000).optional(),
        should_escape: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(50),
  shortcuts: z
    .array(
      z.strictObject({
        name: text(24),
        type: z.enum(['message', 'global']),
        callback_id: text(255),
        description: text(150),
      }),
    )
    .min(1)
    .max(10)
    .optional(),
  unfurl_domains: z
    .array(
      z
        .string()
        .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])$/)
        .max(255),
    )
    .min(1)
    .max(5)
    .optional(),
  rich_previews: z
    .strictObject({
      is_active: z.boolean(),
      entity_types: z
        .array(
          z.enum(
            ['file', 'task', 'incident', 'content_item', 'item'].map((name) => `slack#/entities/${name}`),
          ),
        )
        .optional(),
    })
    .optional(),
});

const settings = z.strictObject({
  event_subscriptions: z.strictObject({ request_url: httpsAddress(3500).optional(), bot_events: names(100) }),
  interactivity: z.strictObject({
    is_enabled: z.boolean(),
    request_url: httpsAddress(3500).optional(),
    message_menu_options_url: httpsAddress(3500).optional(),
  }),
  org_deploy_enabled: z.boolean(),
  function_runtime: z.enum(['remote', 'slack']).optional(),
  socket_mode_enabled: z.boolean(),
  token_rotation_enabled: z.boolean(),
});

export const SlackManifest = z
  .strictObject({
    display_information: z.strictObject({
      name: text(35),
      description: text(140),
      long_description: z.string().min(175).max(4000).optional(),
      background_color: z
        .string()
        .regex(/^#(?:[0-9a-f]{3}){1,2}$/i)
        .optional(),
    }),
    features,
    oauth_config: z.strictObject({
      redirect_urls: z.array(httpsAddress(2500)).max(1000).optional(),
      scopes: z.strictObject({ bot: names(255), bot_optional: names(255).optional() }),
    }),
    functions: z
      .record(
        text(100),
        z.strictObject({
          title: text(255),
          description: z.string(),
          input_parameters: z.record(z.string(), parameter),
          output_parameters: z.record(z.string(), parameter),
        }),
      )
      .optional(),
    settings,
    mcp_servers: z
      .record(
        z.string(),
        z.strictObject({
          url: httpsAddress(500),
          headers: z.record(z.string().min(1), z.string()).optional(),
          auth_provider_key: z.string().max(255).optional(),
          auth_type: z.enum(['dynamic_client_registration', 'no_auth', 'manual_auth', 'slack_identity_auth']),
        }),
      )
      .refine((servers) => Object.keys(servers).length <= 20, 'has more than 20 servers')
      .optional(),
  })
  .superRefine((manifest, ctx) => {
    const { features: shown, settings: set, functions = {} } = manifest;
    const refuse = (path: (string | number)[], message: string) =>
      ctx.addIssue({ code: 'custom', path, message });
    if (!set.socket_mode_enabled) {
      const isMissing = 'is required without Socket Mode';
      if (set.event_subscriptions.request_url === undefined)
        refuse(['settings', 'event_subscriptions', 'request_url'], isMissing);
      if (set.interactivity.request_url === undefined)
        refuse(['settings', 'interactivity', 'request_url'], isMissing);
      for (const [at, { url }] of shown.slash_commands.entries())
        if (url === undefined) refuse(['features', 'slash_commands', at, 'url'], isMissing);
    }
    if (Object.keys(functions).length > 0 && !(set.function_runtime && set.org_deploy_enabled))
      refuse(['functions'], 'need function_runtime and org_deploy_enabled');
    if (shown.unfurl_domains !== undefined && !manifest.oauth_config.scopes.bot.includes('links:read'))
      refuse(['features', 'unfurl_domains'], 'need the scope links:read');
  });
