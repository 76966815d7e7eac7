import { mayRead } from '../../core/direct.ts';
import { AccountKeyUnreadable } from '../../records/account-keys.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { episodeRecords, failingNow } from '../../records/episodes.ts';
import { nextOf } from '../../records/schedules.ts';
import { type Run, withoutSuperseded } from '../../records/test-runs.ts';
import { chartOf } from '../../views/activity/activity.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import {
  type AccountFigures,
  HOME_RANGE,
  type HomeData,
  type HomeFailure,
  type HomeRun,
  type HomeSchedule,
  MAX_ENDED,
  MAX_FAILING,
  MAX_FIGURES,
  MAX_RUNNING,
} from '../../views/home/home.ts';
import { SCHEDULE_FACES } from '../../views/schedules/schedule.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { rolesHeld } from '../permission.ts';

/** The schedules that a person may read. */
async function loadSchedules({ clock, schedules }: Workspace, user: string): Promise<HomeSchedule[]> {
  return (await schedules.all())
    .filter(({ channel, setUpBy }) => mayRead(user, { channel, person: setUpBy }))
    .map((schedule) => ({
      schedule,
      next: 'cadence' in schedule ? nextOf(schedule, clock.now()) : undefined,
    }));
}

/** What App Home shows to a person, from our own records alone. */
export async function loadHome(workspace: Workspace, user: string): Promise<Omit<HomeData, 'figures'>> {
  const [accounts, defaultAccount, failing, runs, schedules, roles] = await Promise.all([
    workspace.accounts.list({ user }),
    workspace.accounts.defaultName({ user }),
    failingFor(workspace, user),
    loadRuns(workspace, user),
    loadSchedules(workspace, user),
    rolesHeld(workspace, user),
  ]);
  return {
    word: workspace.word,
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

/** What fails in channels, and of the person's own deployments. The latest first. */
async function failingFor(workspace: Workspace, user: string): Promise<HomeFailure[]> {
  const failing = (await episodeRecords(workspace.store).list()).flatMap(({ doc }) => {
    const episode = failingNow(doc);
    return episode === undefined || !mayRead(user, doc.subject) ? [] : [{ subject: doc.subject, episode }];
  });
  const latest = failing.toSorted((one, other) => other.episode.since - one.episode.since);
  return Promise.all(
    latest.map(async (one, at) => {
      if (at >= MAX_FAILING) return one;
      const link = await linkTo(workspace, one.subject.channel, one.episode.shown?.ts);
      return { ...one, link };
    }),
  );
}

function linkTo(
  { home }: Workspace,
  channel: string | undefined,
  ts: string | undefined,
): Promise<string | undefined> | undefined {
  return channel === undefined || !ts ? undefined : home.permalink({ channel, ts });
}

/** Among so many of the newest runs are those that go on, and enough that the person may see. */
const MAX_READ = 100;

/** The latest first, those that go on before those that ended. */
async function loadRuns(workspace: Workspace, user: string): Promise<HomeRun[]> {
  const all = withoutSuperseded(await workspace.runs.newest(MAX_READ))
    .filter(({ channel, askedBy }) => mayRead(user, { channel, person: askedBy }))
    .toSorted((one, other) => timeOf(other) - timeOf(one));
  const running = all.filter(({ status }) => status === 'running').slice(0, MAX_RUNNING);
  const ended = all.filter(({ status }) => status !== 'running').slice(0, MAX_ENDED);
  return Promise.all(
    [...running, ...ended].map(async (run) => ({
      ...run,
      link: await linkTo(workspace, run.channel, run.rootTs),
    })),
  );
}

function timeOf({ endedAt, startedAt }: Run): number {
  return endedAt ?? startedAt;
}

/** The figures of the last seven days of the first accounts, as the person may see them; what fails is explained instead. */
export async function figuresOf(workspace: Workspace, user: string): Promise<Record<string, AccountFigures>> {
  const accounts = (await workspace.accounts.list({ user })).slice(0, MAX_FIGURES);
  const zone = accounts.length === 0 ? 'UTC' : await workspace.home.zone(user);
  const each = accounts.map(async (account): Promise<[string, AccountFigures]> => {
    try {
      const { activity, skipped } = await workspace.hosting.lastSevenDays(account);
      const ask = { account: account.name, range: HOME_RANGE, zone } as const;
      const data = chartOf(ask, activity, workspace.clock.now());
      return [account.name, { stats: activity.stats, data, skipped }];
    } catch (error) {
      if (!(error instanceof AccountFailure || error instanceof AccountKeyUnreadable)) throw error;
      return [account.name, { failed: failureWords(workspace.explain(error)) }];
    }
  });
  return Object.fromEntries(await Promise.all(each));
}
