import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { HOUR_MS } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** The step in which a deployment failed, and its commit. All texts are foreign, and secrets in them are masked. */
export const FailedStep = z.object({
  /** Identifier of the deployment. */
  deployment: z.string(),
  /** Identifier of the step; undefined if the service names no failed one. */
  step: z.string().optional(),
  /** "Building: npm run build" */
  title: z.string().optional(),
  server: z.string().optional(),
  /** The line of the log that says why. Nothing else of a log is stored. */
  line: z.string().optional(),
  /** True if people may read its log. */
  hasLog: z.boolean().optional(),
  /** False if the step needs no connection to a server. */
  connects: z.boolean(),
  revision: z.string().optional(),
  /** First line of the commit's message. */
  message: z.string().optional(),
  author: z.string().optional(),
  deployer: z.string().optional(),
});
export interface FailedStep extends z.infer<typeof FailedStep> {}

/** The search for a failed deployment, which all channels that show it share. */
export const StepSearch = z.object({
  attempts: z.number(),
  /** Calls of the service. */
  calls: z.number(),
  match: FailedStep.optional(),
  /** True if nothing more is looked for. */
  isOver: z.boolean(),
});
export interface StepSearch extends z.infer<typeof StepSearch> {}

/** Longer than a search takes. */
export const SEARCH_KEPT_MS = HOUR_MS;

/** Searches by `makeSearchId`. */
export function stepSearches(store: WorkspaceStore): Collection<StepSearch> {
  return store.collection('step-searches', StepSearch);
}

export function makeSearchId(failure: { account: string; project: string; ref: string; at: number }): string {
  return hashJson([failure.account, failure.project, failure.ref, failure.at]).slice(0, 22);
}

/** Times of the latest calls for failed steps, milliseconds since the epoch. */
export const StepCalls = z.object({ at: z.array(z.number()) });

const CALLS_AN_HOUR = 120;

/** Counts one call for failed steps. Returns false if the account has none left within the hour. */
export async function takeStepCall(store: WorkspaceStore, account: string, now: number): Promise<boolean> {
  let isFree = false;
  await openCalls(store).update(
    account,
    (current) => {
      // A time ahead comes from a clock that was wrong.
      const recent = (current?.at ?? []).filter((time) => time > now - HOUR_MS && time <= now);
      isFree = recent.length < CALLS_AN_HOUR;
      return { at: isFree ? [...recent, now] : recent };
    },
    now + HOUR_MS,
  );
  return isFree;
}

function openCalls(store: WorkspaceStore) {
  return store.collection('step-calls', StepCalls);
}
