import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Submitted, ViewState } from '../commands/command.ts';
import { DAY_MS } from '../core/clock.ts';
import type { Caller } from '../core/reply.ts';
import type { Collection } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { StoredCaller, storedCaller } from './inbox.ts';

/** A form, from before its ack until a day after it was carried out. */
const StoredForm = z.object({
  /** Slack's id of the click that has it carried out. */
  request: z.string(),
  /** One that came back with faults may be sent again. */
  state: z.enum(['sent', 'done', 'faulty']),
  /** What was filled in, which may hold keys and passwords; once it was carried out, what came of it. */
  sealed: z.string(),
});
type StoredForm = z.infer<typeof StoredForm>;

/** Has a form carried out. */
const FormJob = z.object({
  caller: StoredCaller,
  /** Names the form as it was shown. */
  form: z.string(),
  /** Release 0.2.0 kept the form in its job, and said there whether it was done. */
  sealed: z.string().optional(),
  isDone: z.boolean().optional(),
});
type FormJob = z.infer<typeof FormJob>;
export const FORM = { queue: 'forms', schema: FormJob };

const KEPT_MS = DAY_MS;

/** What came of a form. */
export interface Outcome {
  submitted: Submitted;
  /** The modal as it was sent: only its id and title are left. */
  state: ViewState;
}

/**
 * Stores a form that was sent, unless it was sent before.
 * @returns the click that has it carried out, and what came of it, if it was
 * @throws StoreUnavailable where it was not stored
 */
export async function storeForm(
  workspace: Workspace,
  { requestId: request }: Caller,
  state: ViewState,
): Promise<{ request: string; outcome: Outcome | undefined }> {
  const id = formId(state);
  const forms = formsOf(workspace);
  const sent: StoredForm = { request, state: 'sent', sealed: await seal(workspace, id, state) };
  const isNew = await forms.create(id, sent, workspace.clock.now() + KEPT_MS);
  const reopened = (current: StoredForm | undefined): StoredForm =>
    current === undefined || (current.state === 'faulty' && current.request !== request) ? sent : current;
  const stored = isNew ? sent : ((await forms.update(id, reopened)) ?? sent);
  return { request: stored.request, outcome: await outcomeIn(workspace, id, stored) };
}

/** Has a stored form carried out: once, however often this is called, also after a kill before it was. */
export async function sendForm(
  { jobs }: Workspace,
  caller: Caller,
  state: ViewState,
  request: string,
): Promise<void> {
  const data = { caller: { ...storedCaller(caller), requestId: request }, form: formId(state) };
  await jobs.send(FORM, data, { key: request });
}

/** A form as it was filled in, or what came of it. */
export type KnownForm = { filledIn: ViewState } | { outcome: Outcome };

/** The form of a job; undefined where another click has it carried out, or where it is gone. */
export async function formOf(workspace: Workspace, job: FormJob): Promise<KnownForm | undefined> {
  const { caller, form, sealed, isDone } = job;
  const request = caller.requestId;
  if (isDone) return undefined;
  const forms = formsOf(workspace);
  if (sealed !== undefined)
    await forms.create(form, { request, state: 'sent', sealed }, workspace.clock.now() + KEPT_MS);
  const stored = await forms.get(form);
  if (stored?.request !== request) return undefined;
  const outcome = await outcomeIn(workspace, form, stored);
  if (outcome !== undefined) return { outcome };
  // Sealed by us, so nothing else can have put it there.
  return { filledIn: (await open(workspace, form, stored)) as ViewState };
}

/** What came of a form, in whichever replica. */
export async function outcomeOf(workspace: Workspace, state: ViewState): Promise<Outcome | undefined> {
  const id = formId(state);
  const stored = await formsOf(workspace).get(id);
  return stored && outcomeIn(workspace, id, stored);
}

/** Stores what came of a form in place of what was filled in. */
export async function storeOutcome(workspace: Workspace, form: string, outcome: Outcome): Promise<void> {
  const { submitted, state } = outcome;
  const { id, title } = state.view;
  const sealed = await seal(workspace, form, { submitted: withoutAudit(submitted), id, title });
  const ended = submitted.kind === 'errors' ? 'faulty' : 'done';
  await formsOf(workspace).update(form, (current) => current && { ...current, sealed, state: ended });
}

/** What the ack says again to a second click. */
function withoutAudit({ audit: _, ...submitted }: Submitted): Submitted {
  return submitted;
}

async function outcomeIn(
  workspace: Workspace,
  form: string,
  stored: StoredForm,
): Promise<Outcome | undefined> {
  if (stored.state === 'sent') return undefined;
  const { submitted, id, title } = (await open(workspace, form, stored)) as Pick<Outcome, 'submitted'> &
    Pick<ViewState['view'], 'id' | 'title'>;
  const view = { type: 'modal' as const, id, hash: '', private_metadata: '', title, blocks: [] };
  return { submitted, state: { values: {}, metadata: '', view } };
}

function formsOf({ store }: Workspace): Collection<StoredForm> {
  return store.collection('forms', StoredForm);
}

function seal({ sealer }: Workspace, form: string, value: unknown): Promise<string> {
  return sealer.seal(fieldOf(form), JSON.stringify(value));
}

async function open({ sealer }: Workspace, form: string, { sealed }: StoredForm): Promise<unknown> {
  return JSON.parse(await sealer.open(fieldOf(form), sealed));
}

function fieldOf(form: string): { record: string; field: string } {
  return { record: `forms/${form}`, field: 'state' };
}

/** Names a form as it was shown: Slack changes the hash with each version. What was typed is no part of it. */
export function formId({ view, metadata }: ViewState): string {
  const parts = [view.id, view.hash, view.callback_id, metadata];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
