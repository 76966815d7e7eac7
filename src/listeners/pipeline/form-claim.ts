import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Submitted, ViewState } from '../../commands/command.ts';
import type { WorkspaceCollection } from '../../store/workspace-store.ts';
import { notice } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { TakenForm } from '../durable-forms.ts';
import type { Claim } from './pipeline.ts';

/** The job that took the form, so that a kill does not make it a stranger to itself. */
const Sending = z.object({ at: z.number(), job: z.string().optional() });
const CLAIM_MS = 24 * 60 * 60 * 1000;

export function claimsOf({ store }: Workspace): WorkspaceCollection<z.infer<typeof Sending>> {
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
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
