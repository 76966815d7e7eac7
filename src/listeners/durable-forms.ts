import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Submitted, ViewState } from '../commands/command.ts';
import { DAY_MS } from '../core/clock.ts';
import type { Caller } from '../core/reply.ts';
import type { Collection } from '../store/store.ts';
import { notice } from '../views/blocks/modal.ts';
import { defineJob } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { StoredCaller, storedCaller } from './durable-requests.ts';
import type { Claim } from './pipeline/pipeline.ts';

/** A form as it is stored before its ack. What was filled in is sealed, because it may hold keys and passwords. */
const StoredForm = z.object({
  caller: StoredCaller,
  /** Names the form as it was shown. */
  form: z.string(),
  sealed: z.string(),
  /** It was carried out; what is left is to tell the person. */
  isDone: z.boolean().optional(),
});
type StoredForm = z.infer<typeof StoredForm>;

/** A form that is to be carried out, in this process or after it was killed. */
export interface TakenForm {
  caller: Caller;
  form: string;
  state: ViewState;
  /** The job that carries it out. */
  job: string;
  /** True where an earlier attempt was cut off: parts of it may be done. */
  isResumed: boolean;
  isDone: boolean;
  /** Stores that it was carried out, so that a kill from here on does not repeat it. */
  markDone(): Promise<void>;
}

export type DurableForms = ReturnType<typeof createDurableForms>;

interface FormHandlers {
  run(workspace: Workspace, form: TakenForm): Promise<void>;
  /** After the last failed attempt. */
  fail(workspace: Workspace, caller: Caller, error: unknown): Promise<void>;
}

/** Where forms are stored before their ack, in one write, and carried out from. */
export function createDurableForms({ run, fail }: FormHandlers) {
  const job = defineJob({
    queue: 'forms',
    schema: StoredForm,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000 },
    isAwaited: true,
    async run(workspace, { id, attempt, data, save }) {
      await run(workspace, {
        caller: { channel: undefined, ...data.caller },
        form: data.form,
        state: await openState(workspace, data),
        job: id,
        isResumed: attempt > 1,
        isDone: data.isDone === true,
        markDone: () => save({ ...data, isDone: true }),
      });
    },
    onDeadLetter: (workspace, { caller }, error) => fail(workspace, { channel: undefined, ...caller }, error),
  });
  return {
    job,
    /** @throws StoreUnavailable where it was not stored */
    async store(workspace: Workspace, caller: Caller, form: string, state: ViewState): Promise<void> {
      const sealed = await workspace.sealer.seal(fieldOf(form), JSON.stringify(state));
      const data = { caller: storedCaller(caller), form, sealed };
      await workspace.jobs.send(job, data, { key: caller.requestId });
    },
  };
}

async function openState({ sealer }: Workspace, { form, sealed }: StoredForm): Promise<ViewState> {
  // Sealed by us, so nothing else can have put it there.
  return JSON.parse(await sealer.open(fieldOf(form), sealed)) as ViewState;
}

function fieldOf(form: string): { record: string; field: string } {
  return { record: `forms/${form}`, field: 'state' };
}

/** The job that took the form, so that a kill does not make it a stranger to itself. */
const Sending = z.object({ at: z.number(), job: z.string().optional() });
const CLAIM_MS = DAY_MS;

export function claimsOf({ store }: Workspace): Collection<z.infer<typeof Sending>> {
  return store.collection('submissions', Sending);
}

/** Where another job took the form, the person checks before it is done a second time. */
export function formClaim(
  workspace: Workspace,
  state: ViewState,
  { form, job }: TakenForm,
): Claim<Submitted> {
  const claims = claimsOf(workspace);
  return {
    async take() {
      const at = workspace.clock.now();
      if (await claims.create(form, { at, job }, at + CLAIM_MS)) return undefined;
      return (await claims.get(form))?.job === job ? undefined : sentAlready(state);
    },
    async release() {
      await claims.delete(form);
    },
  };
}

export function sentAlready({ view }: ViewState): Submitted {
  const said =
    ':information_source: This form was sent already. Check whether it was carried out before you fill it in again.';
  return { kind: 'view', view: notice(view.title.text, said) };
}

/** Names a form as it was shown: Slack changes the hash with each version. What was typed is no part of it. */
export function formId({ view, metadata }: ViewState): string {
  const parts = [view.id, view.hash, view.callback_id, metadata];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
