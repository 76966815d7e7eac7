import type { HomeView } from '@slack/types';
import { z } from 'zod';
import { AccountFailure, AccountKeyUnreadable } from '../../core/errors.ts';
import { type Message, mayRead } from '../../core/message.ts';
import { projectId } from '../../core/project-ref.ts';
import { HOUR_MS, withTimeout } from '../../core/time/clock.ts';
import { computePeriods } from '../../core/time/range.ts';
import { type Job, NoData } from '../../jobs/jobs.ts';
import type { Account } from '../../records/accounts.ts';
import { type RecoveryFigures, readRecoveries } from '../../records/recoveries.ts';
import { findNextTime, type Schedule } from '../../records/schedules.ts';
import { type Run, withoutSuperseded } from '../../records/test-runs.ts';
import {
  type Activity,
  type ActivityEvent,
  countByDay,
  type DeploymentsData,
  readEventOutcome,
} from '../../service/activity.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { withCharts } from '../../views/activity/chart.ts';
import { waitingWords } from '../../views/activity/waiting.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import {
  type AccountFigures,
  HOME_RANGE,
  type HomeData,
  type HomeRun,
  type HomeSchedule,
  homeView,
  MAX_ENDED,
  MAX_FIGURES,
  MAX_LATEST,
  MAX_RUNNING,
  refusedHomeView,
  type ShownFigures,
} from '../../views/home/home-view.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { keepActivity, readKnownActivity } from '../../workspace/read-activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { readFailing } from '../episodes/read-failing.ts';
import { readChannels } from '../overview/read-channels.ts';
import { findRefusal, listRoles, type Refusal } from '../permission.ts';
import type { SlackEvent } from '../slack-event.ts';

const LATELY_MS = HOUR_MS;
/** Maximum number of updated viewers, to save time. A person who opens App Home sees the present state anyway. */
const MAX_VIEWERS = 15;
/** Wait for figures that may be in the first view. */
const FIGURES_TIMEOUT_MS = 300;

const Opened = z.object({
  user: z.string(),
  tab: z.string().nullish().catch(undefined),
  view: z.object({ hash: z.string().nullish() }).nullish().catch(undefined),
});

/** Shows what is known at once. The service's figures follow. */
export async function homeOpened({ workspace }: CommandContext, { event }: SlackEvent): Promise<void> {
  const { user, tab, view } = Opened.parse(event);
  if (tab === 'messages') return;
  const openedAt = workspace.clock.now();
  // Do not load figures that are not shown.
  if (await refusalFor(workspace, user)) return publish(workspace, user, { figures: {}, openedAt });
  const figures = loadFigures(workspace, user);
  const early = await withTimeout(workspace.clock, FIGURES_TIMEOUT_MS, figures);
  const hash = view?.hash ?? undefined;
  await publish(workspace, user, { figures: early ?? 'loading', openedAt, hash });
  if (early === undefined) await publish(workspace, user, { figures: await figures, openedAt });
}

function refusalFor(workspace: Workspace, user: string): Promise<Refusal | undefined> {
  return findRefusal(workspace, { user, command: 'home', role: 'member', channels: [] });
}

/** Updates App Home for those who opened it in the last hour. */
async function refreshHome(workspace: Workspace, { signal }: Job<unknown>): Promise<void> {
  const viewers = (await workspace.home.viewers.list())
    .toSorted((one, other) => other.doc.openedAt - one.doc.openedAt)
    .slice(0, MAX_VIEWERS);
  workspace.home.seenBy(viewers.length);
  if (viewers.length === 0) return;
  // Viewers without a key of their own share one look-up.
  const figures = await Promise.all(viewers.map(({ id }) => loadFigures(workspace, id)));
  for (const [at, { id }] of viewers.entries()) {
    signal.throwIfAborted();
    await publish(workspace, id, { figures: figures[at] ?? {} });
  }
}

interface Publishing {
  figures: ShownFigures;
  /** Set if the person opens App Home now. */
  openedAt?: number;
  /** The version that Slack shows. */
  hash?: string | undefined;
}

/**
 * Publishes one view at a time for each person, across replicas. It reads the data within the lock, so that a later
 * view is also a newer one.
 */
async function publish(
  workspace: Workspace,
  user: string,
  { figures, openedAt, hash: openedHash }: Publishing,
): Promise<void> {
  const { viewers } = workspace.home;
  await workspace.store.exclusive(`home ${workspace.id} ${user}`, async () => {
    const viewer = await viewers.get(user);
    if (openedAt !== undefined) {
      // Stored before anything is read, so that later changes are shown to this person too.
      await viewers.put(user, { ...viewer, openedAt }, openedAt + LATELY_MS);
      workspace.home.opened();
    }
    const refusal = await refusalFor(workspace, user);
    const home = refusal === undefined ? await loadHome(workspace, user) : undefined;
    const send = (view: HomeView, hash: string | undefined): Promise<string | undefined> =>
      workspace.slack
        .call('views.publish', { user_id: user, view, ...(hash ? { hash } : {}) })
        .then((answer) => answer.view?.hash);
    const sendAll = async (hash: string | undefined): Promise<string | undefined> => {
      if (home === undefined) return send(refusedHomeView(refusal?.message ?? ''), hash);
      let latest = hash;
      const show = async ({ blocks }: Message): Promise<string | undefined> => {
        latest = await send({ type: 'home', blocks }, latest);
        return latest;
      };
      const message = withCharts(chartData(figures), (charts) => ({
        text: '',
        blocks: homeView({ ...home, figures, charts }).blocks,
      }));
      return workspace.newBlocks.send(message, show, 'home');
    };
    try {
      const hash = await sendAll(viewer?.hash ?? openedHash).catch((error: unknown) => {
        if (isSlackFailure(error) && error.reason === 'hash_conflict') return sendAll(undefined);
        throw error;
      });
      const at = openedAt ?? viewer?.openedAt ?? workspace.clock.now();
      await viewers.put(user, { openedAt: at, hash }, at + LATELY_MS);
    } catch (error) {
      if (!isSlackFailure(error) || isSlackFailure(error, 'busy', 'unreachable')) throw error;
      await viewers.delete(user);
      const { reason } = error;
      workspace.log.warn({ event: 'home_refused', user, reason }, 'Slack refused App Home');
    }
  });
}

export const REFRESH_HOME = defineJob({
  queue: 'refresh-home',
  schema: NoData,
  options: { concurrency: 10, attempts: 3, backoffMs: 1000 },
  handle: refreshHome,
});

function chartData(figures: ShownFigures): Map<string, DeploymentsData> {
  const data = new Map<string, DeploymentsData>();
  for (const [account, figure] of figures === 'loading' ? [] : Object.entries(figures))
    if ('data' in figure && figure.data) data.set(account, figure.data);
  return data;
}

/** The schedules that a person may read. */
async function loadSchedules({ clock, schedules }: Workspace, user: string): Promise<HomeSchedule[]> {
  return (await schedules.all())
    .filter(({ channel, createdBy }) => mayRead(user, { channel, person: createdBy }))
    .map((schedule) => ({
      schedule,
      next: 'cadence' in schedule ? findNextTime(schedule, clock.now()) : undefined,
    }));
}

/** Content of a person's App Home except the figures. It makes no call to the service. */
export async function loadHome(workspace: Workspace, user: string): Promise<Omit<HomeData, 'figures'>> {
  const [accounts, defaultAccount, failing, runs, schedules, roles] = await Promise.all([
    workspace.accounts.list({ user }),
    workspace.accounts.defaultName({ user }),
    readFailing(workspace, user, undefined),
    loadRuns(workspace, user),
    loadSchedules(workspace, user),
    listRoles(workspace, user),
  ]);
  const channels = roles.includes('operator')
    ? await readChannels(workspace, { mayBill: roles.includes('billing') })
    : [];
  return {
    channels,
    word: workspace.word,
    pages: workspace.pages,
    now: workspace.clock.now(),
    canSignUp: workspace.config.SERVICE_SIGNUP_URL !== undefined,
    accounts,
    defaultAccount,
    failing,
    runs,
    schedules: schedules.filter(
      ({ schedule }) => SCHEDULE_FACES[schedule.kind].role !== 'billing' || roles.includes('billing'),
    ),
    roles,
  };
}

/** Number of newest runs to read. They include all running ones, and enough that the person may see. */
const MAX_READ = 100;

/** Running ones first, then the latest. */
async function loadRuns(workspace: Workspace, user: string): Promise<HomeRun[]> {
  const all = withoutSuperseded(await workspace.runs.newest(MAX_READ))
    .filter(({ channel, requestedBy }) => mayRead(user, { channel, person: requestedBy }))
    .toSorted((one, other) => readRunTime(other) - readRunTime(one));
  const running = all.filter(({ status }) => status === 'running').slice(0, MAX_RUNNING);
  const ended = all.filter(({ status }) => status !== 'running').slice(0, MAX_ENDED);
  return Promise.all(
    [...running, ...ended].map(async (run) => {
      const { channel, rootTs: ts } = run;
      return { ...run, link: channel && ts ? await workspace.home.permalink({ channel, ts }) : undefined };
    }),
  );
}

function readRunTime({ endedAt, startedAt }: Run): number {
  return endedAt ?? startedAt;
}

/**
 * The figures of the last seven days of the first accounts, as the person may see them. A failure is
 * explained instead.
 */
export async function loadFigures(
  workspace: Workspace,
  user: string,
): Promise<Record<string, AccountFigures>> {
  const accounts = (await workspace.accounts.list({ user })).slice(0, MAX_FIGURES);
  if (accounts.length === 0) return {};
  const zone = await workspace.home.zone(user);
  const periods = computePeriods(HOME_RANGE, zone, workspace.clock.now());
  const all = await readRecoveries(workspace, { periods });
  const schedules = await loadSchedules(workspace, user);
  const each = accounts.map(async (account): Promise<[string, AccountFigures]> => {
    try {
      const { activity, skipped } = await workspace.hosting.lastSevenDays(account);
      await keepActivity(workspace, account, activity, HOME_RANGE);
      const query = { range: HOME_RANGE, zone } as const;
      const week = await readKnownActivity(workspace, account, query, activity);
      const data = countByDay(query, week, workspace.clock.now());
      const recoveries = all.filter((figures) => figures.account === account.name && failedLately(figures));
      const latest = await readLatest(workspace, { account, week, zone }, activity);
      const waiting = await readWaiting(workspace, account, { schedules, zone });
      return [account.name, { stats: activity.stats, data, skipped, recoveries, latest, waiting }];
    } catch (error) {
      if (!(error instanceof AccountFailure || error instanceof AccountKeyUnreadable)) throw error;
      return [account.name, { failed: failureWords(workspace.explain(error)) }];
    }
  });
  return Object.fromEntries(await Promise.all(each));
}

/** The last deployments of an account, also those of before a quiet week. */
async function readLatest(
  workspace: Workspace,
  { account, week, zone }: { account: Account; week: Pick<Activity, 'events'>; zone: string },
  page: Activity,
): Promise<ActivityEvent[]> {
  const ended = week.events.filter(({ event }) => readEventOutcome(event) !== undefined);
  if (ended.length >= MAX_LATEST) return ended.slice(0, MAX_LATEST);
  const query = { range: 'last_400_days', zone, isHistory: true } as const;
  return (await readKnownActivity(workspace, account, query, page)).events.slice(0, MAX_LATEST);
}

/** Projects whose waiting commits are read. */
const MAX_WAITING = 5;

/** Waiting commits of the projects that the person's schedules of the account follow. */
async function readWaiting(
  workspace: Workspace,
  account: Account,
  { schedules, zone }: { schedules: ReadonlyArray<{ schedule: Schedule }>; zone: string },
): Promise<Array<{ name: string; permalink: string; words: string }>> {
  const projects = schedules.flatMap(({ schedule }) =>
    'project' in schedule && schedule.project !== undefined && schedule.account === account.name
      ? [schedule.project]
      : [],
  );
  const distinct = [...new Map(projects.map((project) => [projectId(project), project])).values()];
  const now = workspace.clock.now();
  const read = distinct.slice(0, MAX_WAITING).map(async (project) => {
    const commits = await workspace.waitingCommits(account, projectId(project));
    const { name, permalink } = project;
    return commits === undefined ? [] : [{ name, permalink, words: waitingWords(commits, { zone, now }) }];
  });
  return (await Promise.all(read)).flat();
}

function failedLately({ failures, before }: RecoveryFigures): boolean {
  return failures > 0 || (before?.failures ?? 0) > 0;
}
