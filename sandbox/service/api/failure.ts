/** An answer that is no success; handlers throw it, the app writes it. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    super(`answers ${status}`);
    this.name = 'ApiFailure';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

const USUAL_BODIES: Record<number, unknown> = {
  400: {
    error_code: 'invalid_json',
    error: 'The request body could not be parsed as JSON.',
    hint: 'Send a well-formed JSON document.',
  },
  401: { error_code: 'unauthorized', hint: 'Check the e-mail address, the API key and the account name.' },
  403: { error_code: 'permission_denied', hint: 'Ask an administrator of the account for this permission.' },
  404: {
    error_code: 'record_not_found',
    status: 'not_found',
    hint: 'Nothing with this identifier exists, or you have no access to it.',
  },
  422: { base: ['could not be saved'] },
  429: { error_code: 'rate_limited', hint: 'Wait before you try again.' },
  500: { error_code: 'internal_error', hint: 'Something broke on our side. Please try again.' },
  503: { error_code: 'service_unavailable', hint: 'The service is paused for a moment; see Retry-After.' },
};

/** The body usually sent with a status. Spec 7.1 and, for signup, 7.2; 401, 403 and 429 are our choice. */
export function usualBody(status: number, path = ''): unknown {
  if (path.startsWith('/api/v1/signup')) return { status: 'error', errors: [`Status ${status}`] };
  return USUAL_BODIES[status] ?? (status < 400 ? {} : { error: `Status ${status}` });
}

export function invalidJson(): ApiFailure {
  return new ApiFailure(400, usualBody(400));
}

export function unauthorized(): ApiFailure {
  return new ApiFailure(401, usualBody(401), { 'www-authenticate': 'Basic realm="API"' });
}

export function forbidden(errorCode: string, hint: string): ApiFailure {
  return new ApiFailure(403, { error_code: errorCode, hint });
}

/** Says what is missing. Spec 5.1. */
export function permissionDenied(permission: string): ApiFailure {
  const hint = `Your user lacks the permission "${permission}"; an administrator of the account can give it.`;
  return forbidden('permission_denied', hint);
}

export function recordNotFound(): ApiFailure {
  return new ApiFailure(404, usualBody(404));
}

export function unknownMethod(): ApiFailure {
  return new ApiFailure(404, {
    error_code: 'invalid_api_method',
    hint: 'There is no such endpoint; the reference lists all of them.',
  });
}

/** Messages by attribute, `base` for the whole. */
export function invalid(fields: Record<string, string[]>): ApiFailure {
  return new ApiFailure(422, fields);
}
