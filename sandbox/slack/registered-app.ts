import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { digits, newId, secretHex } from './state/ids.ts';

/** The app as its makers registered it with Slack. */
export interface RegisteredApp {
  appId: string;
  name: string;
  botName: string;
  clientId: string;
  clientSecret: string;
  signingSecret: string;
  /** The old verification token that payloads still carry. */
  verificationToken: string;
  botScopes: string[];
  commands: { command: string; description: string; usage_hint: string; should_escape: boolean }[];
  shortcuts: { type: 'global' | 'message'; name: string; callback_id: string }[];
  /** Subscribed bot events; undefined: all. */
  events: string[] | undefined;
  unfurlDomains: string[];
  /** Of its work objects; undefined: all that Slack has. */
  entityTypes: string[] | undefined;
  functions: {
    callback_id: string;
    title: string;
    input_parameters: string[];
    output_parameters: string[];
  }[];
  redirectUrls: string[] | undefined;
  homeTab: boolean;
  messagesTab: boolean;
  /** People read what the app writes them, and cannot answer. */
  messagesTabReadOnly: boolean;
  orgDeploy: boolean;
  tokenRotation: boolean;
  socketMode: boolean;
}

export type AppOptions = Partial<RegisteredApp>;

const parameters = z.record(z.string(), z.unknown()).optional();

/** The part of an app manifest that changes how Slack behaves; the rest is let through. */
const Manifest = z.object({
  display_information: z.object({ name: z.string() }),
  features: z
    .object({
      bot_user: z.object({ display_name: z.string() }).optional(),
      app_home: z
        .object({
          home_tab_enabled: z.boolean().optional(),
          messages_tab_enabled: z.boolean().optional(),
          messages_tab_read_only_enabled: z.boolean().optional(),
        })
        .optional(),
      slash_commands: z
        .array(
          z.object({
            command: z.string(),
            description: z.string(),
            usage_hint: z.string().default(''),
            should_escape: z.boolean().default(false),
          }),
        )
        .optional(),
      shortcuts: z
        .array(
          z.object({
            name: z.string(),
            type: z.enum(['global', 'message']),
            callback_id: z.string(),
            description: z.string(),
          }),
        )
        .optional(),
      unfurl_domains: z.array(z.string()).optional(),
      rich_previews: z
        .object({ is_active: z.boolean(), entity_types: z.array(z.string()).optional() })
        .optional(),
    })
    .optional(),
  oauth_config: z
    .object({
      redirect_urls: z.array(z.string()).optional(),
      scopes: z.object({ bot: z.array(z.string()).optional() }).optional(),
    })
    .optional(),
  functions: z
    .record(
      z.string(),
      z.object({ title: z.string(), input_parameters: parameters, output_parameters: parameters }),
    )
    .optional(),
  settings: z
    .object({
      event_subscriptions: z.object({ bot_events: z.array(z.string()).optional() }).optional(),
      org_deploy_enabled: z.boolean().optional(),
      socket_mode_enabled: z.boolean().optional(),
      token_rotation_enabled: z.boolean().optional(),
    })
    .optional(),
});

const DEFAULT_SCOPES = [
  'commands',
  'chat:write',
  'files:write',
  'im:write',
  'users:read',
  'links:read',
  'links:write',
];

export function registerApp(options: AppOptions = {}): RegisteredApp {
  return {
    appId: newId('A'),
    name: 'Deckhand',
    botName: 'deckhand',
    clientId: `${digits(12)}.${digits(13)}`,
    clientSecret: secretHex(16),
    signingSecret: secretHex(16),
    verificationToken: secretHex(12),
    botScopes: DEFAULT_SCOPES,
    commands: [
      {
        command: '/deckhand',
        description: 'Deployments from chat',
        usage_hint: 'help',
        should_escape: false,
      },
    ],
    shortcuts: [],
    events: undefined,
    unfurlDomains: [],
    entityTypes: undefined,
    functions: [],
    redirectUrls: undefined,
    homeTab: true,
    messagesTab: true,
    messagesTabReadOnly: false,
    orgDeploy: true,
    tokenRotation: false,
    socketMode: false,
    ...options,
  };
}

/** Reads what a manifest file (YAML or JSON, which is YAML too) says into options for `registerApp`. */
export function appFromManifestFile(path: string): AppOptions {
  return appFromManifest(parse(readFileSync(path, 'utf8')));
}

export function appFromManifest(manifest: unknown): AppOptions {
  const { display_information, features, oauth_config, functions, settings } = Manifest.parse(manifest);
  return {
    name: display_information.name,
    botName: (features?.bot_user?.display_name ?? display_information.name).toLowerCase(),
    botScopes: oauth_config?.scopes?.bot ?? [],
    commands: features?.slash_commands ?? [],
    shortcuts: features?.shortcuts ?? [],
    events: settings?.event_subscriptions?.bot_events ?? [],
    unfurlDomains: features?.unfurl_domains ?? [],
    entityTypes: features?.rich_previews?.is_active ? (features.rich_previews.entity_types ?? []) : [],
    functions: Object.entries(functions ?? {}).map(([callback_id, known]) => ({
      callback_id,
      title: known.title,
      input_parameters: Object.keys(known.input_parameters ?? {}),
      output_parameters: Object.keys(known.output_parameters ?? {}),
    })),
    redirectUrls: oauth_config?.redirect_urls,
    homeTab: features?.app_home?.home_tab_enabled ?? false,
    messagesTab: features?.app_home?.messages_tab_enabled ?? false,
    messagesTabReadOnly: features?.app_home?.messages_tab_read_only_enabled ?? false,
    orgDeploy: settings?.org_deploy_enabled ?? false,
    tokenRotation: settings?.token_rotation_enabled ?? false,
    socketMode: settings?.socket_mode_enabled ?? false,
  };
}
