import { postReplies } from '../../cards/deliver.ts';
import { AccountFailure } from '../../core/errors.ts';
import { isNamed } from '../../core/names.ts';
import { projectId } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import {
  changeEpisode,
  type Episode,
  episodeRecords,
  makeProjectRef,
  readOpen,
  type ShownSubject,
  type Subject,
} from '../../records/episodes.ts';
import { isFailed } from '../../records/failure-rules.ts';
import { findQuiet, listQuiets, readQuiet } from '../../records/quiets.ts';
import type { SkippedRows } from '../../service/call.ts';
import { listServers } from '../../service/servers.ts';
import { reminderReply } from '../../views/episodes/episode.ts';
import { listFailing, outageReminder } from '../../views/episodes/outage.ts';
import { findCurrentProject } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { closeEpisode } from './change-episodes.ts';
import { type OutageRef, readOutage } from './count-failures.ts';
import { defineFailureJob, LOOKS, type LookJob, planLook, REVIEW_FAILURES } from './queues.ts';

/** Looks after an open failure: whether its project still exists, and whether somebody is on it. */
export const LOOK = defineFailureJob(LOOKS, look);

async function look(
  workspace: Workspace,
  { key, episode: id, at }: LookJob,
  signal: AbortSignal,
): Promise<void> {
  const { subject, episode } = (await readOpen(workspace.store, key)) ?? {};
  if (subject === undefined || episode?.id !== id) return;
  const isMissed = await isUnlisted(workspace, subject);
  // It may be missing only for a moment.
  if (isMissed && episode.isMissed === true) {
    await workspace.ledger.forgetProject(subject.account, subject.project);
    return closeEpisode(workspace, { key, id, why: 'gone' }, signal);
  }
  if (isMissed !== (episode.isMissed ?? false))
    await episodeRecords(workspace.store).update(key, (current) => changeEpisode(current, id, { isMissed }));
  if (!isMissed) await settleRenamed(workspace, subject, key);
  await planLook(workspace, { key, episode: id, newsAt: episode.newsAt, after: at });
  await remind(workspace, subject, episode, signal);
}

async function isUnlisted({ accounts, projects }: Workspace, subject: Subject): Promise<boolean> {
  const account = await accounts.get(subject.account);
  if (account?.state !== 'ok') return false;
  // The looks at failures of an account share one list.
  const list = {
    ...projects,
    look: (...[of, options]: Parameters<typeof projects.look>) =>
      options ? projects.look(of, options) : projects.list(of),
  };
  return (await findCurrentProject(list, account, makeProjectRef(subject))) === undefined;
}

/** Ends the failure of a server that was renamed or removed since, if a deployment to the others succeeded. */
async function settleRenamed(workspace: Workspace, subject: Subject, key: string): Promise<void> {
  const { accounts, jobs, ledger } = workspace;
  const { kind, account: name, project, channel } = subject;
  const standing = kind === 'deployments' ? await ledger.standings.get(name, project) : undefined;
  const account = await accounts.get(name);
  const isMixed = standing?.servers.some(isFailed) && !standing.servers.every(isFailed);
  if (!isMixed || account?.state !== 'ok') return;
  try {
    const skipped: SkippedRows[] = [];
    const servers = await accounts.use(account, (client) =>
      listServers(client, projectId(makeProjectRef(subject)), { skipped }),
    );
    // The server may be missing in a list that is not whole.
    if (!servers?.length || skipped.length > 0) return;
    await ledger.settleUnlisted(name, project, (server) => servers.some((one) => isNamed(one, server)));
    await jobs.send(REVIEW_FAILURES, { channel, account: name, key });
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
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
  if (episode.outage !== undefined) return remindOutage(workspace, subject, episode.outage, signal);
  // In a direct message, nobody could take it.
  if (owner !== undefined || idleSince === undefined || subject.person !== undefined) return;
  const now = workspace.clock.now();
  if (now - idleSince < UNOWNED_MS) return;
  if ((await readQuiet(workspace.store, subject, now)) !== undefined) return;
  const about: ShownSubject = {
    ...subject,
    isAccountShown: await workspace.accounts.hasSeveral(),
    pages: workspace.pages,
  };
  const message = reminderReply(about, { ...episode, id, idleSince });
  const thread = { id: `episode ${id}`, channel: subject.channel, threadTs: rootRef?.ts, signal };
  await postReplies(workspace, thread, [['reminder', message]]);
}

/** One reminder for all failures of an outage, whichever of them is looked at first. */
async function remindOutage(
  workspace: Workspace,
  subject: Subject,
  ref: OutageRef,
  signal: AbortSignal,
): Promise<void> {
  const now = workspace.clock.now();
  const state = await readOutage(workspace, ref);
  const { owner, idleSince = now, root } = state?.outage ?? {};
  if (state === undefined || owner !== undefined || subject.person !== undefined) return;
  if (now - idleSince < UNOWNED_MS) return;
  const failing = listFailing(state.view);
  const quiets = await listQuiets(workspace.store, subject.channel, now);
  const isFree = failing.some(
    (one) => one.episode.owner === undefined && findQuiet(quiets, one.subject, now) === undefined,
  );
  if (!isFree) return;
  const thread = { id: state.outage.id, channel: subject.channel, threadTs: root?.ts, signal };
  await postReplies(workspace, thread, [['reminder', outageReminder(state.view)]]);
}
