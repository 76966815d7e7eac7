/** What an integration of a type is set up with. Spec 4.8. */
interface HookType {
  required: readonly string[];
  optional: readonly string[];
  /** Set up in the browser, by OAuth. */
  oauth?: true;
}

const VERSIONS = ['cloud', 'on_premise'];

export const HOOK_TYPES: Record<string, HookType> = {
  http_req: { required: ['url'], optional: [] },
  cdn_cache: { required: ['zone_id'], optional: ['path_prefix'] },
  perf_monitor: { required: ['application_id', 'api_key'], optional: [] },
  error_tracker_a: { required: ['token'], optional: ['environment'] },
  error_tracker_b: { required: ['api_key'], optional: ['environment'] },
  chat_teams: { required: ['url'], optional: ['team'] },
  codehost: { required: ['repository', 'username', 'api_key'], optional: ['account', 'project'] },
  error_tracker_c: {
    required: ['hook_version', 'project', 'token'],
    optional: ['environment', 'organization_slug', 'url'],
  },
  error_tracker_d: { required: ['hook_version', 'api_key'], optional: ['url'] },
  chat_a_oauth: { required: [], optional: ['channel'], oauth: true },
  chat_b: { required: [], optional: ['channel'], oauth: true },
  chat_c: { required: ['url'], optional: [] },
  chat_d: { required: ['bot_token', 'chat_id'], optional: [] },
};

/** What the version of an error tracker asks for besides. */
const REQUIRED_BY_VERSION: Record<string, Record<string, string>> = {
  error_tracker_c: { cloud: 'organization_slug', on_premise: 'url' },
  error_tracker_d: { on_premise: 'url' },
};

export function isOauthHook(hookType: string): boolean {
  return HOOK_TYPES[hookType]?.oauth === true;
}

/** The given properties that the type knows; the rest is dropped, and so is what is taken away. */
export function knownProperties(hookType: string, given: Record<string, unknown>): Record<string, string> {
  const { required, optional } = HOOK_TYPES[hookType] ?? { required: [], optional: [] };
  const known = new Set([...required, ...optional]);
  const texts = Object.entries(given).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts.filter(([key]) => known.has(key)));
}

/** `documented` asks only for what spec 4.8 calls required; `usual` for what the target cannot do without. */
export type IntegrationRules = 'usual' | 'documented';

/** What is wrong with an integration's properties, by property; empty where nothing is. */
export function checkProperties(
  hookType: string,
  properties: Record<string, string>,
  rules: IntegrationRules,
): Record<string, string[]> {
  const version = properties.hook_version ?? '';
  const extra = REQUIRED_BY_VERSION[hookType]?.[version];
  const usual = [...(HOOK_TYPES[hookType]?.required ?? []), ...(extra === undefined ? [] : [extra])];
  const required = rules === 'usual' ? usual : usual.filter((key) => key === 'hook_version');
  const faults: Record<string, string[]> = {};
  for (const key of required) if (!properties[key]?.trim()) faults[key] = ["can't be blank"];
  if (version !== '' && !VERSIONS.includes(version)) faults.hook_version = ['must be cloud or on_premise'];
  if (properties.url && !isWebAddress(properties.url)) faults.url = ['must be an http or https address'];
  return faults;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
