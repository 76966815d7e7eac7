import { type Fields, isFields } from './change-record.ts';
import type { Sky } from './sky.ts';

export interface Answer {
  status: number;
  /** Text is sent as it is, everything else as JSON. */
  body: unknown;
}

/** Error codes that decide what is meant; with one of them a body keeps its code. */
const KEPT =
  /^(record_not_found|invalid_api_method|api_access_restricted|invalid_json|admin_required|unsupported_protocol)$/;

/** Another form of the plan without the API. */
const PLAN = {
  error: 'api_access_restricted',
  message: 'Your plan does not include the API; upgrade to use it.',
  upgrade_url: 'https://billing.example.com/plans',
};

const HINTS = [
  'Check the identifier, or ask for the list.',
  'It may have been deleted, or belong to somebody else.',
  'You may lack the permission to see it.',
] as const;

/** A failure in another of the forms that are documented or known. The status says the same. Spec 7. */
export function changeFailure(sky: Sky, { status, body }: Answer, key: string): Answer {
  if (!isFields(body)) return { status, body };
  if (Array.isArray(body.errors)) return { status, body: changeSignup(sky, status, body, key) };
  if (status === 422) return { status, body: changeFields(sky, body, key) };
  const hinted = changeHint(sky, status, body, key);
  if (!sky.happens('failures', 'form', String(status), key))
    return { status, body: doubled(sky, hinted, key) };
  if (typeof body.error_code === 'string' && KEPT.test(body.error_code)) {
    if (sky.wild && body.error_code === 'api_access_restricted') return { status, body: PLAN };
    return { status, body: doubled(sky, withStatus(sky, status, hinted), key) };
  }
  if (typeof body.error === 'string' && KEPT.test(body.error)) return { status, body: hinted };
  return { status, body: doubled(sky, otherForm(sky, status, hinted, key), key) };
}

/** Spec 7.2: `{status: "error", errors}`, where nothing says that each text comes once. */
function changeSignup(sky: Sky, status: number, body: Fields, key: string): Fields {
  const errors = [body.errors].flat();
  const twice = sky.happens('doubled', 'signup', key) ? [...errors, ...errors] : errors;
  if (!sky.wild || !sky.happens('failures', 'signup', key)) return { ...body, errors: twice };
  return sky.pick([{ status, errors: twice }, { error: errors.join(' ') }], 'signup', key);
}

/** Spec 7.1: `status` is there in some errors; others send it as a number. */
function withStatus(sky: Sky, status: number, body: Fields): Fields {
  if (sky.wild) return { ...body, status };
  return { ...body, status: status === 404 ? 'not_found' : 'error' };
}

/** Most errors have a hint, none must. */
function changeHint(sky: Sky, status: number, body: Fields, key: string): Fields {
  if (typeof body.hint !== 'string' || !sky.happens('failures', 'hint', key)) return body;
  const { hint, ...rest } = body;
  if (status === 404) return { ...rest, hint: sky.pick(HINTS, 'hint', key) };
  return sky.fraction('no hint', key) < 0.5 ? rest : { ...rest, hint };
}

/** Forms of bodies that the specification does not show: of 401 and 403, and in the wild of any. */
function otherForm(sky: Sky, status: number, body: Fields, key: string): unknown {
  const text = String(body.hint ?? body.error ?? 'Something went wrong');
  const unseen: [unknown, ...unknown[]] = [{ error: text }, { error_code: body.error_code, hint: text }, {}];
  if (!sky.wild) return status === 401 || status === 403 ? sky.pick(unseen, 'form', key) : body;
  return sky.pick(
    [...unseen, { errors: [text] }, { error: text, message: text, status }, `<h1>${status}</h1>`],
    'wild form',
    key,
  );
}

/** Messages by attribute (spec 7.1), each once or twice; elsewhere they are a list, or one text. */
function changeFields(sky: Sky, body: Fields, key: string): unknown {
  if (typeof body.error === 'string') return body;
  const twice = sky.happens('doubled', 'fields', key);
  const fields = Object.fromEntries(
    Object.entries(body).map(([name, texts]) => [
      name,
      twice && Array.isArray(texts) ? [...texts, ...texts] : texts,
    ]),
  );
  if (!sky.wild || !sky.happens('failures', 'fields', key)) return fields;
  const texts = Object.entries(fields).flatMap(([name, list]) =>
    [list].flat().map((text) => (name === 'base' ? String(text) : `${name} ${text}`)),
  );
  return sky.pick([{ errors: texts }, { error: texts.join(', ') }, { errors: fields }], 'fields', key);
}

/** The hint again as the message. */
function doubled(sky: Sky, body: unknown, key: string): unknown {
  if (!isFields(body) || typeof body.hint !== 'string' || !sky.happens('doubled', key)) return body;
  return { ...body, error: body.hint };
}
