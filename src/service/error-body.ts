/** An error answer, in one shape for all the bodies of API 7 (docs/service-api.md). All of it is foreign text. */
export interface ErrorBody {
  /** False for a body that is empty, not JSON, or not an object. */
  isObject: boolean;
  errorCode: string | undefined;
  hint: string | undefined;
  messages: string[];
  fields: Record<string, string[]>;
  betaUrl: string | undefined;
  upgradeUrl: string | undefined;
}

type Json = Record<string, unknown>;

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
/** Keys that describe the error; every other key of a validation error is the name of an attribute. */
const DESCRIBING = new Set([
  'error_code',
  'hint',
  'status',
  'error',
  'message',
  'errors',
  'beta_url',
  'upgrade_url',
]);
/** Names of the request's parts, which are no fields to a person. */
const WRAPPERS = /^(?:server|integration|hosted_website_attributes|static_hosting|managed_vps)\./;
const LONGEST_TEXT = 500;
const MOST_TEXTS = 20;
const MOST_FIELDS = 50;
const DEEPEST = 3;

/** Reads an error body of API 7.1 to 7.4, and similar shapes. Never throws. */
export function readErrorBody(text: string): ErrorBody {
  const json = parseObject(text);
  const body = json ?? {};
  const named = isObject(body.errors) ? body.errors : attributesOf(body);
  return {
    isObject: json !== undefined,
    errorCode: [body.error_code, body.error, body.status].find(isCode),
    hint: textsOf(body.hint)[0],
    messages: messagesOf(body),
    fields: Object.fromEntries(fieldsOf(named).slice(0, MOST_FIELDS)),
    betaUrl: webAddress(body.beta_url),
    upgradeUrl: webAddress(body.upgrade_url),
  };
}

function messagesOf(body: Json): string[] {
  const errors = isObject(body.errors) ? [] : textsOf(body.errors);
  const error = isCode(body.error) ? [] : textsOf(body.error);
  return [...new Set([...errors, ...textsOf(body.message), ...error])].slice(0, MOST_TEXTS);
}

function attributesOf(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !DESCRIBING.has(key)));
}

function fieldsOf(attributes: Json, prefix = '', depth = 1): Array<[string, string[]]> {
  return Object.entries(attributes).flatMap(([key, value]): Array<[string, string[]]> => {
    const name = `${prefix}${key}`;
    if (isObject(value)) return depth < DEEPEST ? fieldsOf(value, `${name}.`, depth + 1) : [];
    const texts = textsOf(value);
    return texts.length === 0 ? [] : [[name.replace(WRAPPERS, '').slice(0, LONGEST_TEXT), texts]];
  });
}

function textsOf(value: unknown): string[] {
  const values = Array.isArray(value) ? value.slice(0, MOST_TEXTS) : [value];
  return values
    .map((item: unknown) => (isObject(item) ? item.message : item))
    .filter((item): item is string => typeof item === 'string' && item.trim() !== '')
    .map((item) => item.slice(0, LONGEST_TEXT))
    .filter((item, at, all) => all.indexOf(item) === at);
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && CODE.test(value);
}

/** Only addresses that a browser opens as a page: nothing foreign becomes a `javascript:` button. */
function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // A body that is not JSON is one of the cases, not a bug.
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
