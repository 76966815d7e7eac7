import type { ModalView } from '../core/message.ts';
import { comeBack, listLabels, type Merged } from '../views/blocks/shared-form.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Submitted, ViewState } from './submission.ts';

/** Somebody saved the same while a form was being saved. */
export class ChangedMeanwhile extends Error {}

/** Number of attempts to save a form while others save the same. */
const MAX_ATTEMPTS = 5;

/** Saves a form, and begins again if somebody saves the same in the meantime. */
export async function saveUnchanged<T>(save: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await save();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Asks about fields that the person and somebody else changed.
 * @param today the form as it would be opened now
 * @param changedBy the person who changed it last
 * @param secrets fields whose values are not put back
 */
export function askAboutConflicts(
  today: ModalView,
  state: ViewState,
  merged: Merged,
  changedBy: string | undefined,
  secrets: readonly string[] = [],
): Submitted {
  const who = changedBy === undefined ? 'Somebody' : `<@${changedBy}>`;
  const labels = listLabels(today, merged.conflicts);
  const text = `${who} changed this while the form was open, so nothing was saved. Look at ${labels || 'the form'}, then save again.`;
  return { kind: 'view', view: comeBack(today, state, merged, text, secrets) };
}

/** Number of entries of the audit log in which the last change is looked for. */
const MAX_ENTRIES = 100;

/** The person who made the last of some changes, e.g. in a channel. */
export async function findLastChanger(
  { audit }: Pick<Workspace, 'audit'>,
  { commands, where, target }: { commands: readonly string[]; where?: string; target?: string },
): Promise<string | undefined> {
  const entries = await audit.latest(MAX_ENTRIES);
  const match = entries.find(
    ({ entry }) =>
      entry.result === 'done' &&
      commands.includes(entry.what) &&
      (where === undefined || entry.where === where) &&
      (target === undefined || entry.target === target) &&
      /^[UW][A-Z0-9]+$/.test(entry.requestedBy),
  );
  return match?.entry.requestedBy;
}
