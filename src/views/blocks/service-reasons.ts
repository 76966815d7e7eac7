import type { ServiceError, ServiceErrorKind } from '../../core/errors.ts';
import { mrkdwn } from '../../core/mrkdwn.ts';

/** What the service says about a failure, each text once. Other texts than these may be anybody's, such as a proxy's. */
export function reasonsOf({ kind, messages = [], hint }: ServiceError): string[] {
  const own = GIVING_REASONS.has(kind) ? messages : [];
  return [...new Set([...own, ...(hint === undefined ? [] : [hint])])];
}

const GIVING_REASONS: ReadonlySet<ServiceErrorKind> = new Set([
  'api_access_restricted',
  'admin_required',
  'email_verification_required',
  'forbidden',
]);

export function listMessages({ fields = {}, messages = [], hint = 'no reason given' }: ServiceError): string {
  const byField = Object.entries(fields).flatMap(([field, texts]) =>
    texts.map((text) => (field === 'base' ? text : `${field.replaceAll('_', ' ')} ${text}`)),
  );
  const all = [...new Set([...byField, ...messages])];
  return closed(mrkdwn((all.length > 0 ? all : [hint]).join('; '), 500));
}

export function closed(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** What an account has without a name of its own, by the operation that reads it. */
const UNNAMED: Readonly<Record<string, string>> = {
  getActivity: 'activity',
  listInvoices: 'invoices',
  listProjects: 'list of projects',
  getProfile: 'profile',
  listHostedResources: 'managed resources',
  listRegions: 'regions',
  listSizes: 'sizes',
};

export function unnamedRecord(operation: string): string | undefined {
  return UNNAMED[operation];
}
