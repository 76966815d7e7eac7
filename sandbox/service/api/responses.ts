import { z } from '@hono/zod-openapi';

/** Shapes of failures, for the description; spec 7. */
export const ApiError = z
  .strictObject({
    error_code: z.string().optional(),
    hint: z.string().optional(),
    status: z.string().optional(),
    error: z.string().optional(),
  })
  .openapi('Error', { description: 'What went wrong, for machines, and what to do about it, for people.' });

const ValidationErrors = z.record(z.string(), z.array(z.string())).openapi('ValidationErrors', {
  description: 'Messages by attribute; those about the whole are under base.',
});

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** What any operation may answer. */
export const usualFailures = {
  400: json(ApiError, 'The body is not JSON.'),
  401: json(ApiError, 'Wrong, revoked or not yet verified credentials, or those of another account.'),
  403: json(ApiError, 'A permission is missing, the plan has no API, or the account is suspended.'),
  404: json(ApiError, 'There is no such record, or it cannot be seen by this user.'),
  429: json(ApiError, 'Too many requests; see Retry-After.'),
  500: json(ApiError, 'Something broke in the service.'),
  503: json(ApiError, 'Paused for a moment; see Retry-After.'),
} as const;

export const invalidFields = { 422: json(ValidationErrors, 'Some fields are not acceptable.') } as const;
