import { z } from '@hono/zod-openapi';

/** Words for what is wrong with a field, as the 422 bodies carry them. */
function complain(what: string) {
  return (issue: { input?: unknown }) =>
    issue.input === undefined || issue.input === null || issue.input === '' ? "can't be blank" : what;
}

/** Text that must be there. */
export function text() {
  return z
    .string({ error: complain('must be text') })
    .trim()
    .min(1, "can't be blank");
}

export function flag() {
  return z.boolean({ error: complain('must be true or false') });
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: complain(`must be one of ${values.join(', ')}`) });
}

/** Objects that only wrap the attributes. */
const WRAPPERS = new Set(['server', 'integration', 'properties', 'hosted_website_attributes']);

/** Messages by attribute name, without the wrappers around it. Spec 7.1. */
export function fieldsOf(error: z.core.$ZodError): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const issue of error.issues) {
    const inner = issue.path.filter((part) => !WRAPPERS.has(String(part)));
    const key = inner.length === 0 ? 'base' : inner.join('.');
    const messages = fields[key] ?? [];
    fields[key] = [
      ...messages,
      key === 'base' ? `${issue.path.join('.') || 'body'} is missing` : issue.message,
    ];
  }
  return fields;
}
