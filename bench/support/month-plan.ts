import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time/clock.ts';

/** A deployment as it ends at the service. */
export interface Planned {
  account: string;
  /** Milliseconds since the epoch. */
  at: number;
  project: string;
  succeeded: boolean;
  user: string;
  ref: string;
}

/** Something else that happens at a time: a server goes away or comes back, or a person acts. */
export interface Happening {
  at: number;
  kind: 'break' | 'mend' | 'claim' | 'close' | 'pause' | 'resume';
  account: string;
  project: string;
}

export interface Plan {
  deployments: Planned[];
  happenings: Happening[];
  /** Projects whose latest deployment failed, by the end. Of those closed by a person or for a week only the number is shown. */
  failing: string[];
  closed: number;
}

/** A Monday, before anybody works. */
export const START = Date.parse('2026-03-02T06:00:00Z');
export const DAYS = 30;
export const END = START + DAYS * DAY_MS - 8 * HOUR_MS;
const PEOPLE = ['Marta Reis', 'Ben Sommer', 'Priya Nand', 'Kim Example'];
const WORKDAYS = Array.from({ length: DAYS }, (_, at) => at).filter((at) => at % 7 < 5);
/** Workday, counted from 0, at which each thing of the team's month happens. */
const FIRST_SINGLES = 1;
const ROLLBACK = 13;
const FLAPPING = 14;
const OUTAGE = 15;
const PAUSED = 18;
const CLOSED = 19;

export const TEAM_PROJECTS = [
  'storefront',
  'billing-api',
  'warehouse',
  'search',
  'portal',
  'mailer',
  'reports',
  'importer',
];
const SINGLES = 12;
const TEAM_DEPLOYMENTS = 302;

/** The same numbers between 0 and 1 at each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Time of a workday. @param hour of the day in UTC */
function workday(at: number, hour: number): number {
  return START - 6 * HOUR_MS + (WORKDAYS[at] ?? 0) * DAY_MS + hour * HOUR_MS;
}

function createPlan(seed: number) {
  const random = createRandom(seed);
  const plan: Plan = { deployments: [], happenings: [], failing: [], closed: 0 };
  const choose = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return {
    plan,
    random,
    choose,
    deploy(account: string, project: string, at: number, succeeded: boolean, ref?: string): string {
      const revision =
        ref ??
        Math.floor(random() * 2 ** 48)
          .toString(16)
          .padStart(12, '0')
          .padEnd(40, '0');
      plan.deployments.push({ account, project, at, succeeded, user: choose(PEOPLE), ref: revision });
      return revision;
    },
    add(kind: Happening['kind'], account: string, project: string, at: number): void {
      plan.happenings.push({ kind, account, project, at });
    },
    /** Mostly in working hours. One in ten comes in the evening or at the weekend. */
    pickTime(): number {
      if (random() < 0.1) return START + Math.floor(random() * DAYS) * DAY_MS + (12 + random() * 4) * HOUR_MS;
      return workday(Math.floor(random() * WORKDAYS.length), 8 + random() * 10);
    },
    /** In the order of time, none after the end. */
    close(): Plan {
      plan.deployments.sort((one, other) => one.at - other.at);
      plan.happenings.sort((one, other) => one.at - other.at);
      return plan;
    },
  };
}

/** A team's month: 302 deployments of 8 projects, of which 26 failed. */
export function planTeam(account: string): Plan {
  const month = createPlan(50);
  const { deploy, add } = month;
  // Before anything is set up, and nobody mends it.
  deploy(account, 'importer', START - 30 * MINUTE_MS, false);
  for (let at = 0; at < SINGLES; at += 1) {
    const project = TEAM_PROJECTS[at % 5] as string;
    const failed = workday(FIRST_SINGLES + at, 9.5 + (at % 6));
    deploy(account, project, failed, false);
    if (at % 2 === 0) add('claim', account, project, failed + 5 * MINUTE_MS);
    deploy(account, project, failed + (25 + at) * MINUTE_MS, true);
  }
  const yesterday = deploy(account, 'storefront', workday(ROLLBACK - 1, 17.9), true);
  for (const minutes of [0, 5, 10])
    deploy(account, 'storefront', workday(ROLLBACK, 11) + minutes * MINUTE_MS, false);
  deploy(account, 'storefront', workday(ROLLBACK, 11) + 22 * MINUTE_MS, true, yesterday);
  for (const round of [0, 1, 2]) {
    deploy(account, 'search', workday(FLAPPING, 15) + round * 20 * MINUTE_MS, false);
    deploy(account, 'search', workday(FLAPPING, 15) + (round * 20 + 10) * MINUTE_MS, true);
  }
  for (const [at, project] of TEAM_PROJECTS.slice(0, 5).entries()) {
    deploy(account, project, workday(OUTAGE, 20) + at * 10_000, false);
    deploy(account, project, workday(OUTAGE, 20.7) + at * MINUTE_MS, true);
  }
  add('break', account, 'billing-api', workday(9, 22));
  add('mend', account, 'billing-api', workday(9, 25.2));
  add('pause', account, 'reports', workday(PAUSED, 12));
  deploy(account, 'reports', workday(PAUSED, 12.2), false);
  add('resume', account, 'reports', workday(PAUSED, 12.5));
  deploy(account, 'mailer', workday(CLOSED, 14), false);
  add('close', account, 'mailer', workday(CLOSED, 14.5));
  const ends: Record<string, number> = {
    importer: 0,
    reports: workday(PAUSED, 11),
    mailer: workday(CLOSED, 13),
  };
  while (month.plan.deployments.length < TEAM_DEPLOYMENTS) {
    const [project, at] = [month.choose(TEAM_PROJECTS), month.pickTime()];
    const isQuiet = at > (ends[project] ?? END - HOUR_MS) || isDuring(month.plan, project, at);
    if (!isQuiet) deploy(account, project, at, true);
  }
  month.plan.failing.push('reports');
  month.plan.closed = 2;
  return month.close();
}

/** True if a success would mend what is to fail at that time. */
function isDuring({ deployments }: Plan, project: string, at: number): boolean {
  return deployments.some(
    (one) => one.project === project && !one.succeeded && at > one.at - HOUR_MS && at < one.at + 2 * HOUR_MS,
  );
}

export const CLIENTS = 40;
const PROJECTS_A_CLIENT = ['website', 'shop', 'api'];
const AGENCY_DEPLOYMENTS = 640;
const AGENCY_SINGLES = 30;
const UNMENDED = 6;
/** Projects on the host that goes away. */
const ON_ONE_HOST = 14;

export function nameClient(at: number): string {
  return `c${String(at + 1).padStart(2, '0')}`;
}

export function listClientProjects(client: number): string[] {
  return PROJECTS_A_CLIENT.map((name) => `${nameClient(client)}-${name}`);
}

/** An agency's month: 40 clients with 120 projects in two accounts, and one host of 14 projects that goes away. */
export function planAgency(accounts: readonly [string, string]): Plan {
  const month = createPlan(52);
  const { deploy, plan, choose } = month;
  const ends = new Map<string, number>();
  const accountOf = (client: number): string => accounts[client % 2] as string;
  for (let at = 0; at < AGENCY_SINGLES; at += 1) {
    const client = (at * 7) % CLIENTS;
    const project = listClientProjects(client)[at % 3] as string;
    const isLeft = at >= AGENCY_SINGLES - UNMENDED;
    const failed = workday(isLeft ? 18 + (at % 3) : 1 + (at % 17), 9 + (at % 7));
    deploy(accountOf(client), project, failed, false);
    if (isLeft) {
      ends.set(project, failed - HOUR_MS);
      plan.failing.push(project);
    } else deploy(accountOf(client), project, failed + 35 * MINUTE_MS, true);
  }
  for (let at = 0; at < ON_ONE_HOST; at += 1) {
    const client = 1 + at * 2;
    const project = `${nameClient(client)}-website`;
    deploy(accountOf(client), project, workday(12, 19) + at * 4_000, false);
    if (!ends.has(project)) deploy(accountOf(client), project, workday(12, 19.7) + at * 5_000, true);
  }
  while (plan.deployments.length < AGENCY_DEPLOYMENTS) {
    const client = Math.floor(month.random() * CLIENTS);
    const [project, at] = [choose(listClientProjects(client)), month.pickTime()];
    if (at < (ends.get(project) ?? END - HOUR_MS) && !isDuring(plan, project, at))
      deploy(accountOf(client), project, at, true);
  }
  return month.close();
}
