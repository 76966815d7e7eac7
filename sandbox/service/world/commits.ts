import { stableFraction, stableRevision } from './ids.ts';
import type { NewCommit } from './inputs.ts';
import type { Commit, Project } from './project-records.ts';
import type { Account } from './records.ts';

const MINUTE_MS = 60_000;

const MESSAGES = [
  'Fix cart rounding',
  'Cache the price list',
  'Translate the order mail',
  'Remove the old importer',
  'Show taxes by country',
  'Retry refused payments',
  'Sort the reports by day',
] as const;

/** The commit of a revision; what is left out is the same for the same revision. */
export function makeCommit(account: Account, given: NewCommit & { ref: string; at: number }): Commit {
  const { ref, at } = given;
  const chance = stableFraction(`commit ${ref}`);
  const user = account.users[Math.floor(chance * account.users.length)];
  const author = given.author ?? `${user?.firstName ?? 'Kim'} ${user?.lastName ?? 'Example'}`;
  return {
    ref,
    author,
    email: given.email ?? `${author.toLowerCase().replaceAll(' ', '.')}@example.com`,
    message: given.message ?? MESSAGES[Math.floor(chance * MESSAGES.length)] ?? '',
    at: given.committedAt ?? at,
  };
}

/** Adds commits that wait to be deployed, the latest last. */
export function addCommits(
  account: Account,
  project: Project,
  {
    count,
    now,
    everyMs = MINUTE_MS,
    ...given
  }: NewCommit & { count: number; now: number; everyMs?: number | undefined },
): void {
  const last = given.committedAt ?? now;
  for (let left = count - 1; left >= 0; left -= 1) {
    const at = last - left * everyMs;
    const ref = stableRevision(
      project.permalink,
      'waiting',
      String(project.waiting.commits.length),
      String(at),
    );
    project.waiting.commits.push(makeCommit(account, { ...given, committedAt: at, ref, at }));
  }
}

/** The first line of a message. */
export function shorten(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
