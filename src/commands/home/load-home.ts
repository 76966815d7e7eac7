import { mayRead } from '../../core/direct.ts';
import { AccountKeyUnreadable } from '../../records/account-keys.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { episodeRecords, failingNow } from '../../records/episodes.ts';
import { type Run, withoutSuperseded } from '../../records/test-runs.ts';
import { nextOf } from '../../records/timed-schedules.ts';
import { DIGESTS } from '../../scheduler/digests/digest.ts';
import { GUARDS } from '../../scheduler/guards/guard.ts';
import { INVOICE_NOTICES } from '../../scheduler/invoices/notices.ts';
import type { ScheduleKind } from '../../scheduler/schedules/lifecycle.ts';
import { WATCHES } from '../../scheduler/watches/schedule.ts';
import { chartOf } from '../../views/activity/activity.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { digestWords } from '../../views/digests/digest.ts';
import { guardWords } from '../../views/guards/guard.ts';
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
import { noticeWords } from '../../views/invoices/invoices.ts';
import { SCHEDULE_FACES, type ScheduleFace } from '../../views/schedules/schedule.ts';
import { watchWords } from '../../views/watches/watch.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { rolesHeld } from '../permission.ts';

/** Reads the schedules of one kind, as App Home shows them. */
function listing<R>(
  face: ScheduleFace,
  kind: ScheduleKind<R>,
  words: (record: R) => string,
  nextAfter?: (record: R, now: number) => number | undefined,
): (workspace: Workspace, user: string) => Promise<HomeSchedule[]> {
  return async (workspace, user) =>
    (await kind.list(workspace))
      .filter(({ channel, setUpBy }) => mayRead(user, { channel, person: setUpBy }))
      .map(({ id, channel, state, record }) => {
        const next = nextAfter?.(record, workspace.clock.now());
        return { face, id, channel, state, what: words(record), next };
      });
}

const LISTINGS = [
  listing(SCHEDULE_FACES.digest, DIGESTS, digestWords, nextOf),
  listing(SCHEDULE_FACES.guard, GUARDS, guardWords, nextOf),
  listing(SCHEDULE_FACES.watch, WATCHES, watchWords),
  listing(SCHEDULE_FACES.invoices, INVOICE_NOTICES, ({ account }) => noticeWords(account)),
] as const;

/** What App Home shows to a person, from our own records alone. */
export async function loadHome(workspace: Workspace, user: string): Promise<Omit<HomeData, 'figures'>> {
  const [accounts, defaultAccount, failing, runs, schedules, roles] = await Promise.all([
    workspace.accounts.list({ user }),
    workspace.accounts.defaultName({ user }),
    failingFor(workspace, user),
    loadRuns(workspace, user),
    Promise.all(LISTINGS.map((list) => list(workspace, user))),
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
    schedules: schedules.flat().filter(({ face }) => face.role !== 'billing' || roles.includes('billing')),
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
    latest.slice(0, MAX_FAILING).map(async (one) => {
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
