import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ViewState } from '../../commands/command.ts';
import type { WorkspaceCollection } from '../../store/workspace-store.ts';
import type { Workspace } from '../../workspace/workspace.ts';

const Claim = z.object({ at: z.number() });
const CLAIM_MS = 24 * 60 * 60 * 1000;
/** Answers kept for second clicks, which come within seconds. */
const KEPT_ANSWERS = 200;

/** Sees to it that a form is carried out once, however often it is sent. */
export interface SubmissionClaims<Answer> {
  /** True for the first who asks, across replicas and restarts. */
  take(workspace: Workspace, id: string): Promise<boolean>;
  /** The form may be sent again. */
  release(workspace: Workspace, id: string): Promise<void>;
  /** What this process answers, or will answer, to the same form. */
  answerOf(id: string): Promise<Answer> | undefined;
  /** Keeps an answer for second clicks; no longer once `stays`, which may not reject, turns out false. */
  remember(id: string, answer: Promise<Answer>, stays: Promise<boolean>): void;
}

export function createSubmissionClaims<Answer>(): SubmissionClaims<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return {
    take(workspace, id) {
      const at = workspace.clock.now();
      return claimsOf(workspace).create(id, { at }, at + CLAIM_MS);
    },
    async release(workspace, id) {
      await claimsOf(workspace).delete(id);
    },
    answerOf: (id) => answers.get(id),
    remember(id, answer, stays) {
      answers.set(id, answer);
      const [oldest] = answers.size > KEPT_ANSWERS ? answers.keys() : [];
      if (oldest !== undefined) answers.delete(oldest);
      void stays.then((isKept) => isKept || answers.delete(id));
      // Whoever asked first is told of a failure; nobody else is waiting for it here.
      answer.catch(() => answers.delete(id));
    },
  };
}

/** Names a form as it was shown: Slack changes the hash with each version. What was typed is no part of it. */
export function formId({ view, metadata }: ViewState): string {
  const parts = [view.id, view.hash, view.callback_id, metadata];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function claimsOf({ store }: Workspace): WorkspaceCollection<z.infer<typeof Claim>> {
  return store.collection('submissions', Claim);
}
