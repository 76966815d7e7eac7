import { postReplies } from '../../cards/deliver.ts';
import { AccountFailure } from '../../core/errors.ts';
import { spellName } from '../../core/names.ts';
import { isSameProject } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import {
  changeEpisode,
  type Episode,
  episodeRecords,
  failingNow,
  makeProjectRef,
  type ShownSubject,
  type Subject,
} from '../../records/episodes.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { reminderReply } from '../../views/episodes/episode.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { closeEpisode } from './episodes.ts';
import { LOOKS, type LookJob, planLook } from './plan-look.ts';

/** Looks after an open failure: whether its project still exists, and whether somebody is on it. */
export const LOOK = defineJob({
  ...LOOKS,
  options: { concurrency: 20, attempts: 10, backoffMs: 15_000 },
  run: (workspace, { data, signal }) =>
    undefinedOnSlackError(look(workspace, data, signal), 'gone', 'forbidden'),
});

async function look(
  workspace: Workspace,
  { key, episode: id, at }: LookJob,
  signal: AbortSignal,
): Promise<void> {
  const records = episodeRecords(workspace.store);
  const record = await records.get(key);
  const episode = record && failingNow(record);
  if (record === undefined || episode?.id !== id) return;
  const { subject } = record;
  const isMissed = await isUnlisted(workspace, subject);
  // It may be missing only for a moment.
  if (isMissed && episode.isMissed === true) {
    await workspace.ledger.forgetProject(subject.account, subject.project);
    return closeEpisode(workspace, { key, id, why: 'gone' }, signal);
  }
  if (isMissed !== (episode.isMissed ?? false))
    await records.update(key, (current) => changeEpisode(current, id, { isMissed }));
  await planLook(workspace, { key, episode: id, newsAt: episode.newsAt, after: at });
  await remind(workspace, subject, episode, signal);
}

async function isUnlisted({ accounts, projects }: Workspace, subject: Subject): Promise<boolean> {
  const account = await accounts.get(subject.account);
  if (account?.state !== 'ok') return false;
  try {
    const project = makeProjectRef(subject);
    // Without an identifier, the project may have moved to another permalink.
    const isNamesake = ({ name }: { name: string }): boolean =>
      project.identifier === undefined && spellName(name) === spellName(project.name);
    return !(await projects.list(account)).some((one) => isSameProject(one, project) || isNamesake(one));
  } catch (error) {
    if (error instanceof AccountFailure) return false;
    throw error;
  }
}

/** How long nobody is on a failure before its thread gets a reminder, once. */
const UNOWNED_MS = DAY_MS;

async function remind(
  workspace: Workspace,
  subject: Subject,
  { id, owner, idleSince, rootRef, ...episode }: Episode,
  signal: AbortSignal,
): Promise<void> {
  // In a direct message, nobody could take it.
  if (owner !== undefined || idleSince === undefined || subject.person !== undefined) return;
  if (workspace.clock.now() - idleSince < UNOWNED_MS) return;
  const about: ShownSubject = { ...subject, isAccountShown: await workspace.accounts.hasSeveral() };
  const message = reminderReply(about, { ...episode, id, idleSince });
  const thread = { id: `episode ${id}`, channel: subject.channel, threadTs: rootRef?.ts, signal };
  await postReplies(workspace, thread, [['reminder', message]]);
}
