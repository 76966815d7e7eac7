import { z } from 'zod';
import { GLOBAL, type Place } from '../store/store.ts';

/** Where the documents of a collection have their sealed value, and the field that it is bound to. */
const SEALED: Readonly<Record<string, { key: string; field: string }>> = {
  accounts: { key: 'sealedKey', field: 'apiKey' },
  installations: { key: 'sealed', field: 'installation' },
  links: { key: 'sealedTokens', field: 'tokens' },
  'link-states': { key: 'sealedVerifier', field: 'verifier' },
};

const Fields = z.record(z.string(), z.unknown());
/** Of a form that waits (`listeners/durable-forms.ts`). */
const SealedForm = z.object({ workspace: z.string(), form: z.string(), sealed: z.string() });

export interface SealedValue {
  place: Place;
  sealed: string;
}

/** The sealed value of a stored document, where it has one. */
export function sealedIn(
  workspace: string,
  collection: string,
  id: string,
  doc: unknown,
): SealedValue | undefined {
  const at = SEALED[collection];
  const fields = Fields.safeParse(doc).data;
  const sealed = at && fields?.[at.key];
  if (at === undefined || fields === undefined || typeof sealed !== 'string') return undefined;
  const owner = workspace === GLOBAL ? String(fields.workspace) : workspace;
  return { place: { workspace: owner, record: `${collection}/${id}`, field: at.field }, sealed };
}

/** The sealed value of a job, where it has one. */
export function sealedInJob(queue: string, data: unknown): SealedValue | undefined {
  const form = queue === 'forms' ? SealedForm.safeParse(data).data : undefined;
  if (form === undefined) return undefined;
  return {
    place: { workspace: form.workspace, record: `forms/${form.form}`, field: 'state' },
    sealed: form.sealed,
  };
}
