import { z } from 'zod';
import { isObject } from '../core/json.ts';

const Email = z.email().max(200);

/**
 * The person's e-mail address, where an answer of the service has it under the name of its scope or the usual one.
 * API 5.3 (docs/service-api.md) shows neither the fields of a token's answer nor a place to ask with a token.
 */
export function emailIn(answer: unknown): string | undefined {
  if (!isObject(answer) || answer.email_verified === false) return undefined;
  const found = [answer.email_address, answer.email].find((value) => Email.safeParse(value).success);
  return typeof found === 'string' ? found : undefined;
}
