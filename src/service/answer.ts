import type { z } from 'zod';
import type { Call, Reader } from './call.ts';
import { classifyAnswer, classifyFailure } from './classify.ts';
import { type AnswerFault, ServiceError } from './errors.ts';
import { type Answer, TimeoutError } from './transport.ts';

/** The value of an answer: what the call's reader makes of a good one. Throws a ServiceError for any other. */
export function readValue<T>(call: Call<T>, answer: Answer, now: number): T {
  const { operation, scope } = call;
  const { status, headers } = answer;
  if (status < 200 || status >= 300) {
    const retryAfter = headerOf(answer, 'retry-after');
    throw classifyAnswer({ operation, scope, status, retryAfter, body: textOf(answer), now });
  }
  if (answer.tooLarge) throw unexpected(operation, status, 'the answer is too large', { fault: 'too_large' });
  const isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isEncoded) throw unexpected(operation, status, 'the answer is encoded, which was not asked for');
  return call.read(answer, operation);
}

/** Reads a JSON answer by a schema (spec 1.3). */
export function jsonOf<T>(schema: z.ZodType<T>): Reader<T> {
  return (answer, operation) => {
    const parsed = schema.safeParse(parseJson(answer, operation));
    if (parsed.success) return parsed.data;
    const detail = 'the answer has another shape';
    // Where and what kind only: the values belong in no log.
    const cause = new Error(parsed.error.issues.slice(0, 5).map(placeOf).join('; '));
    throw unexpected(operation, answer.status, detail, { cause });
  };
}

export function headerOf(answer: Answer, name: string): string | undefined {
  const header = answer.headers[name];
  return Array.isArray(header) ? header[0] : header;
}

export function unexpected(
  operation: string,
  status: number,
  detail: string,
  more: { fault?: AnswerFault; cause?: Error } = {},
): ServiceError {
  return new ServiceError('unexpected', operation, { status, detail, ...more });
}

/** The error of an exchange that brought no answer. */
export function failureOf(operation: string, error: unknown): ServiceError {
  if (!(error instanceof TimeoutError)) return classifyFailure(operation, error);
  return new ServiceError('unreachable', operation, { detail: error.message });
}

function parseJson(answer: Answer, operation: string): unknown {
  try {
    return JSON.parse(textOf(answer));
  } catch {
    // The parser's error quotes the body, so it is not passed on.
    throw unexpected(operation, answer.status, 'the answer is not JSON');
  }
}

function textOf(answer: Answer): string {
  return new TextDecoder().decode(answer.body);
}

function placeOf(issue: z.core.$ZodIssue): string {
  return `${issue.path.map(String).join('.').slice(0, 80) || 'the whole'}: ${issue.code}`;
}
