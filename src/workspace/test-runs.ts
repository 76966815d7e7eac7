import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { WorkspaceCollection, WorkspaceStore } from '../store/workspace-store.ts';

/** What a test run is of. Two runs of the same target never go on at once. */
export const Target = z.object({
  account: z.string(),
  project: z.object({ permalink: z.string(), name: z.string() }),
  server: z.object({ identifier: z.string(), name: z.string() }).optional(),
});
export type Target = z.infer<typeof Target>;

/** The latest run of a target: where it is shown, and how it stands. */
export const Run = z.object({
  target: Target,
  /** The request that started it, so that a resumed request finds its own run. */
  requestId: z.string(),
  /** Where it is shown; a workflow may want its outcome alone. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** Undefined for a workflow. */
  askedBy: z.string().optional(),
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** `lost`: no longer followed. */
  status: z.enum(['running', 'completed', 'failed', 'stopped', 'lost']),
  reachable: z.number().optional(),
  total: z.number().optional(),
  /** The executions of workflow steps that wait for its end. */
  steps: z.array(z.string()).optional(),
});
export type Run = z.infer<typeof Run>;

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

export interface TestRuns {
  /**
   * Claims the target for a new run; gives back the run that goes on already, if one does. The steps of the new one
   * then wait for that.
   */
  claim(run: Run, staleBefore: number): Promise<{ mine: boolean; run: Run }>;
  /** Changes the target's run, unless another has taken its place since; then undefined. */
  change(run: Pick<Run, 'target' | 'requestId'>, change: Partial<Run>): Promise<Run | undefined>;
  list(): Promise<Run[]>;
}

/** A short name of the target, the same for the same account, project and server. */
export function targetKey(target: Target): string {
  const parts = [target.account, target.project.permalink, target.server?.identifier ?? ''];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 24);
}

/** @param onChange told whenever a run starts, is shown or ends */
export function createTestRuns(store: WorkspaceStore, onChange?: () => Promise<void>): TestRuns {
  const stored: WorkspaceCollection<Run> = store.collection('runs', Run);
  return {
    async claim(run, staleBefore) {
      const winner = await stored.update(targetKey(run.target), (current) => {
        if (current?.requestId === run.requestId) return current;
        const waiting = current?.status === 'running' ? current : undefined;
        const standing = waiting !== undefined && waiting.startedAt > staleBefore ? waiting : run;
        const steps = [...new Set([...(waiting?.steps ?? []), ...(run.steps ?? [])])];
        return steps.length === 0 ? standing : { ...standing, steps };
      });
      const standing = winner ?? run;
      await onChange?.();
      return { mine: standing.requestId === run.requestId, run: standing };
    },
    async change({ target, requestId }, change) {
      const id = targetKey(target);
      const changed = await stored.update(id, (current) =>
        current?.requestId === requestId ? { ...current, ...change } : current,
      );
      if (changed?.endedAt !== undefined) await stored.put(id, changed, changed.endedAt + KEPT_MS);
      await onChange?.();
      return changed?.requestId === requestId ? changed : undefined;
    },
    async list() {
      return (await stored.list()).map((row) => row.doc);
    },
  };
}
