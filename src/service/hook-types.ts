/** `chat_id` is a number or a name that begins with `@`. */
type HookPropertyFormat = 'text' | 'url' | 'chat_id';
export type HookVersion = 'cloud' | 'on_premise';

export interface HookProperty {
  key: string;
  /** A key, a token, or an address that works like one: never shown again, never logged. */
  secret: boolean;
  format: HookPropertyFormat;
  /** Only for this `hook_version`; undefined: always. */
  version: HookVersion | undefined;
}

export interface HookType {
  /** The neutral label of API 4.8 (docs/service-api.md). */
  label: string;
  /** What it is, for people. */
  kind: string;
  /** True if the service answers a create with an address to authorise at. */
  oauth: boolean;
  /** The choices of the required property `hook_version`; empty if the type has none. */
  versions: readonly HookVersion[];
  properties: readonly HookProperty[];
}

/** The integration types of API 4.8. Of the properties only `hook_version` is required. */
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
  {
    ...hookType('error_tracker_c', 'error tracker', [
      open('project'),
      open('environment'),
      secret('token'),
      only('cloud', open('organization_slug')),
      only('on_premise', open('url', 'url')),
    ]),
    versions: ['cloud', 'on_premise'],
  },
  {
    ...hookType('error_tracker_d', 'error tracker', [
      secret('api_key'),
      only('on_premise', open('url', 'url')),
    ]),
    versions: ['cloud', 'on_premise'],
  },
  { ...hookType('chat_a_oauth', 'team chat, OAuth', []), oauth: true },
  { ...hookType('chat_b', 'team chat, OAuth', []), oauth: true },
  hookType('chat_c', 'team chat', [secret('url', 'url')]),
  hookType('chat_d', 'messaging', [secret('bot_token'), open('chat_id', 'chat_id')]),
];

/** The type with this neutral label, if there is one. */
export function findHookType(label: string): HookType | undefined {
  return HOOK_TYPES.find((type) => type.label === label);
}

/** The properties of a type, in the chosen version where it has versions. */
export function propertiesOf(type: HookType, version?: HookVersion): HookProperty[] {
  return type.properties.filter((property) => property.version === undefined || property.version === version);
}

function hookType(label: string, kind: string, properties: HookProperty[]): HookType {
  return { label, kind, oauth: false, versions: [], properties };
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
