import type { Caller, Reply } from '../../commands/command.ts';
import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';

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
  deckhand: Deckhand,
  change: Change,
  work: (deckhand: Deckhand) => Promise<Reply>,
): Promise<Reply> {
  if (!change.isChange) return work(deckhand);
  let isRecorded = false;
  const audit: Deckhand['audit'] = {
    ...deckhand.audit,
    record: (workspace, entry) => {
      isRecorded = true;
      return deckhand.audit.record(workspace, entry);
    },
  };
  try {
    const reply = await work({ ...deckhand, audit });
    if (!isRecorded && reply.kind !== 'run' && reply.kind !== 'modal') await record(deckhand, change, 'done');
    return reply;
  } catch (error) {
    if (!isRecorded && !isMistake(error)) await record(deckhand, change, 'failed');
    throw error;
  }
}

function record(deckhand: Deckhand, { caller, what }: Change, result: 'done' | 'failed'): Promise<void> {
  const where = caller.channel === undefined ? {} : { where: caller.channel };
  return deckhand.audit.record(caller.workspace, { who: caller.user, what, result, ...where });
}

function isMistake(error: unknown): boolean {
  return [UserError, AccountNeeded, ProjectNeeded, ServerNeeded].some((kind) => error instanceof kind);
}
