import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { type CallOptions, type ListOptions, requestJson, requestRows } from './call.ts';
import type { AccountClient } from './client.ts';
import { Identifier, listUnder, OptionalIdentifier, recordUnder, YesOrNo } from './fields.ts';

/** `chat_id` is a number or a name that begins with `@`. */
type HookPropertyFormat = 'text' | 'url' | 'chat_id';
export type HookVersion = 'cloud' | 'on_premise';

export interface HookProperty {
  key: string;
  /** True for a key, a token, or an address that works like one. Deckhand never shows or logs it. */
  secret: boolean;
  format: HookPropertyFormat;
  /** The `hook_version` that has the property. Undefined: all versions. */
  version: HookVersion | undefined;
}

export interface HookType {
  /** The neutral label of API 4.8 (docs/service-api.md). */
  label: string;
  /** Name that people read. */
  kind: string;
  /** True if the service answers with an address for authorisation. */
  oauth: boolean;
  /** The choices of the required property `hook_version`. Empty if the type has none. */
  versions: readonly HookVersion[];
  properties: readonly HookProperty[];
}

/** The integration types of API 4.8. Only `hook_version` is required. */
export const HOOK_TYPES: readonly HookType[] = [
  hookType('http_req', 'HTTP request', [open('url', 'url')]),
  hookType('cdn_cache', 'CDN cache service', [open('zone_id'), open('path_prefix')]),
  hookType('perf_monitor', 'performance monitoring', [open('application_id'), secret('api_key')]),
  hookType('error_tracker_a', 'error tracker', [secret('token'), open('environment')]),
  hookType('error_tracker_b', 'error tracker', [secret('api_key'), open('environment')]),
  hookType('chat_teams', 'team chat', [secret('url', 'url'), open('team')]),
  hookType('codehost', 'code hosting', [
    open('account'),
    open('project'),
    open('repository'),
    open('username'),
    secret('api_key'),
  ]),
  hookType('error_tracker_c', 'error tracker', [
    open('project'),
    open('environment'),
    secret('token'),
    only('cloud', open('organization_slug')),
    only('on_premise', open('url', 'url')),
  ]),
  hookType('error_tracker_d', 'error tracker', [secret('api_key'), only('on_premise', open('url', 'url'))]),
  hookType('chat_a_oauth', 'team chat A, OAuth'),
  hookType('chat_b', 'team chat B, OAuth'),
  hookType('chat_c', 'team chat', [secret('url', 'url')]),
  hookType('chat_d', 'messaging', [secret('bot_token'), open('chat_id', 'chat_id')]),
];

export function findHookType(label: string): HookType | undefined {
  return HOOK_TYPES.find((type) => type.label === label);
}

/** Returns the properties of a type. @param version chosen version, if the type has versions */
export function listProperties(type: HookType, version?: HookVersion): HookProperty[] {
  return type.properties.filter((property) => property.version === undefined || property.version === version);
}

export function hasFormat({ format }: HookProperty, text: string): boolean {
  if (format === 'text') return true;
  if (format === 'url') return URL.canParse(text) && /^https?:\/\/[^\s/]/i.test(text);
  // Groups have negative numbers.
  return /^(?:-?\d{1,20}|@\w+)$/.test(text);
}

/** @param properties undefined if a person authorises the service in a browser */
function hookType(label: string, kind: string, properties?: HookProperty[]): HookType {
  const isVersioned = properties?.some(({ version }) => version !== undefined) === true;
  const versions = isVersioned ? (['cloud', 'on_premise'] as const) : [];
  return { label, kind, oauth: properties === undefined, versions, properties: properties ?? [] };
}

function open(key: string, format: HookPropertyFormat = 'text'): HookProperty {
  return { key, secret: false, format, version: undefined };
}

function secret(key: string, format: HookPropertyFormat = 'text'): HookProperty {
  return { ...open(key, format), secret: true };
}

function only(version: HookVersion, property: HookProperty): HookProperty {
  return { ...property, version };
}

const Text = z.string().min(1).optional().catch(undefined);
const StatedFlag = YesOrNo.optional().catch(undefined);

/**
 * API 2.10 (docs/service-api.md). A field that the service omits keeps the value that Deckhand sent.
 * Properties never come back.
 */
const Integration = z.object({
  identifier: Identifier,
  hook_type: Text,
  name: Text,
  send_on_start: StatedFlag,
  send_on_completion: StatedFlag,
  send_on_failure: StatedFlag,
  send_on_check_failed: StatedFlag,
});
export type Integration = z.infer<typeof Integration>;

const AuthRequired = z.object({
  auth_required: z.literal(true),
  auth_url: z.url({ protocol: /^https?$/ }),
  /** Not in API 4.8, but some services send it. */
  identifier: OptionalIdentifier,
});

const NoAuthRequired = Integration.extend({ auth_required: z.literal(false).nullish() });

/** The flags that every service has. API 4.8. */
export const BASIC_FLAGS = ['send_on_start', 'send_on_completion', 'send_on_failure'] as const;
/** The events for which an integration sends something. The last flag is sent only if the description lists it. API 4.8, 10. */
export const INTEGRATION_FLAGS = [...BASIC_FLAGS, 'send_on_check_failed'] as const;
export type IntegrationFlag = (typeof INTEGRATION_FLAGS)[number];

export interface IntegrationChanges extends Partial<Record<IntegrationFlag, boolean>> {
  name?: string;
  /** Null removes a property. */
  properties?: Record<string, string | null>;
}

/** The values that a person filled in. */
export interface FilledIntegration {
  name: string | undefined;
  /** The flags that the form has. */
  offered: readonly IntegrationFlag[];
  flags: readonly IntegrationFlag[];
  /** Flags to switch off, if the form does not know the current ones. */
  flagsOff: readonly IntegrationFlag[];
  properties: Record<string, string>;
  /** Names of the properties to remove. */
  cleared: readonly string[];
}

/** The values that differ from those that the form showed. API 4.8. */
export function findChanges(
  filled: FilledIntegration,
  before: { name: string; flags: readonly IntegrationFlag[] } | undefined,
): IntegrationChanges {
  const changes: IntegrationChanges = {};
  if (filled.name !== undefined && filled.name !== before?.name) changes.name = filled.name;
  for (const flag of filled.offered) {
    const isOn = filled.flags.includes(flag);
    if (before === undefined ? isOn : isOn !== before.flags.includes(flag)) changes[flag] = isOn;
    else if (filled.flagsOff.includes(flag)) changes[flag] = false;
  }
  const removals = Object.fromEntries(filled.cleared.map((key) => [key, null]));
  const properties = { ...filled.properties, ...removals };
  if (Object.keys(properties).length > 0) changes.properties = properties;
  return changes;
}

export interface NewIntegration extends IntegrationChanges {
  /** The neutral label of API 4.8. */
  hook_type: string;
  name: string;
}

/** The integration, or the address at which a person has to authorise it in a browser. */
export type IntegrationResult =
  | { kind: 'integration'; integration: Integration }
  | { kind: 'auth_required'; authUrl: string; identifier: string | undefined };

/** Adds an integration to a project. API 4.8. @param project a permalink or identifier */
export function createIntegration(
  account: AccountClient,
  project: string,
  integration: NewIntegration,
): Promise<IntegrationResult> {
  const hookType = toWireName(account, integration.hook_type);
  const path = ['projects', project, 'integrations'];
  const body = { integration: { ...integration, hook_type: hookType } };
  const call = { operation: 'createIntegration', method: 'POST', path, body } as const;
  return requestJson(account, resultSchema(account), call);
}

/** Changes only the given fields. API 4.8. */
export function updateIntegration(
  account: AccountClient,
  project: string,
  id: string,
  changes: IntegrationChanges,
  options?: CallOptions,
): Promise<IntegrationResult> {
  const path = ['projects', project, 'integrations', id];
  const body = { integration: changes };
  const call = { operation: 'updateIntegration', method: 'PATCH', path, body } as const;
  return requestJson(account, resultSchema(account), call, options);
}

/** The integrations of a project. Not in the API's outline: only if the service describes it. API 10. */
export async function listIntegrations(
  account: AccountClient,
  project: string,
  options?: ListOptions,
): Promise<Integration[]> {
  const call = { operation: 'listIntegrations', path: ['projects', project, 'integrations'] };
  const rows = await requestRows(account, listUnder('integrations'), Integration, call, options);
  return rows.map((row) => ({ ...row, hook_type: toLabel(account, row.hook_type) }));
}

/**
 * Removes an integration. Not in the API's outline: only if the service describes it. API 10.
 * @returns false if the service has no such integration
 */
export async function deleteIntegration(
  account: AccountClient,
  project: string,
  id: string,
  options?: CallOptions,
): Promise<boolean> {
  const path = ['projects', project, 'integrations', id];
  const call = { operation: 'deleteIntegration', method: 'DELETE', scope: 'account', path } as const;
  try {
    // The answer may have no body.
    await account.send({ ...call, read: () => undefined }, options);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.errorCode === 'record_not_found') return false;
    throw error;
  }
}

function resultSchema(account: AccountClient): z.ZodType<IntegrationResult> {
  const auth = AuthRequired.transform(({ auth_url: authUrl, identifier }) => {
    return { kind: 'auth_required' as const, authUrl, identifier };
  });
  const integration = recordUnder('integration', NoAuthRequired).transform(
    ({ auth_required, ...record }) => ({
      kind: 'integration' as const,
      integration: { ...record, hook_type: toLabel(account, record.hook_type) },
    }),
  );
  return z.union([auth, integration]);
}

function toWireName(account: AccountClient, label: string): string {
  return Object.hasOwn(account.hookTypes, label) ? (account.hookTypes[label] ?? label) : label;
}

function toLabel(account: AccountClient, wireName: string | undefined): string | undefined {
  return Object.keys(account.hookTypes).find((label) => account.hookTypes[label] === wireName) ?? wireName;
}
