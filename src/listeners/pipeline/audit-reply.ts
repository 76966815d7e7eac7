import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
import type { Workspace } from '../../workspace/workspace.ts';

interface Change {
  caller: Caller;
  /** The command, with a button's verb. */
  what: string;
  /** False for what only looks, which is not written down. */
  isChange: boolean;
}

/**
 * Sees to it that every change is in the audit log: what a handler does not write down itself, with its target, is
 * written down here, and so is a change that failed. A mistake of the person, who is told, changed nothing.
 */
export async function auditReply(
  workspace: Workspace,
  change: Change,
  work: (workspace: Workspace) => Promise<Reply>,
): Promise<Reply> {
  if (!change.isChange) return work(workspace);
  let isRecorded = false;
  const audit: Workspace['audit'] = {
    ...workspace.audit,
    record: (entry) => {
      isRecorded = true;
      return workspace.audit.record(entry);
    },
  };
  try {
    const reply = await work({ ...workspace, audit });
    if (!isRecorded && reply.kind !== 'run' && reply.kind !== 'modal')
      await record(workspace, change, 'done');
    return reply;
  } catch (error) {
    if (!isRecorded && !isMistake(error)) await record(workspace, change, 'failed');
    throw error;
  }
}

function record(workspace: Workspace, { caller, what }: Change, result: 'done' | 'failed'): Promise<void> {
  const where = caller.channel === undefined ? {} : { where: caller.channel };
  return workspace.audit.record({ who: caller.user, what, result, ...where });
}

function isMistake(error: unknown): boolean {
  return [UserError, AccountNeeded, ProjectNeeded, ServerNeeded].some((kind) => error instanceof kind);
}
