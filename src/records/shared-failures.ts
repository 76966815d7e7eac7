import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';
import type { Subject } from './episodes.ts';

/** An open failure of a project, which several channels may show. Each shows it as an episode of its own. */
export const SharedFailure = z.object({
  /** The person who has taken it. */
  owner: z.string().optional(),
  /** Keys of the subjects that show it. */
  shownBy: z.array(z.string()),
});
export interface SharedFailure extends z.infer<typeof SharedFailure> {}

type FailureSubject = Pick<Subject, 'kind' | 'account' | 'project'>;

/** Longer than an episode stays open without news. */
const KEPT_MS = 30 * DAY_MS;

/** Identifies a failure, in whichever channel it is shown. */
export function failureKey({ kind, account, project }: FailureSubject): string {
  return hashJson([kind, account, project]).slice(0, 22);
}

/** Takes a lock for the messages of a failure in all channels. */
export function changeTogether<T>(
  store: WorkspaceStore,
  subject: FailureSubject,
  work: () => Promise<T>,
): Promise<T> {
  return store.exclusive(`failure ${failureKey(subject)}`, work);
}

/** One of release 1.0.0 is shared once it fails again, or somebody takes it. */
export async function readShared(store: WorkspaceStore, subject: FailureSubject): Promise<SharedFailure> {
  return (await openFailures(store).get(failureKey(subject))) ?? { shownBy: [] };
}

/**
 * Notes whether a subject shows the failure. Call it within `changeTogether`.
 * @param now milliseconds since the epoch
 */
export async function noteShown(
  store: WorkspaceStore,
  subject: FailureSubject,
  failure: SharedFailure,
  { key, isShown, now }: { key: string; isShown: boolean; now: number },
): Promise<void> {
  if (failure.shownBy.includes(key) === isShown) return;
  const others = failure.shownBy.filter((one) => one !== key);
  await putShared(store, subject, { ...failure, shownBy: isShown ? [...others, key] : others }, now);
}

/** Call it within `changeTogether`. @param now milliseconds since the epoch */
export async function putShared(
  store: WorkspaceStore,
  subject: FailureSubject,
  failure: SharedFailure,
  now: number,
): Promise<void> {
  if (failure.shownBy.length === 0) await openFailures(store).delete(failureKey(subject));
  else await openFailures(store).put(failureKey(subject), failure, now + KEPT_MS);
}

function openFailures(store: WorkspaceStore) {
  return store.collection('failures', SharedFailure);
}
