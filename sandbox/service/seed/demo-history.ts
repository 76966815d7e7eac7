import { recordDeployment, recordEvent } from '../world/deployments.ts';
import { stableFraction } from '../world/ids.ts';
import type { Project } from '../world/project-records.ts';
import type { Account, User, World } from '../world/records.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Twice the longest range and a little more, so that every delta has something to compare with. */
const DAYS = 65;
const FAILING_SHARE = 0.12;
const MAX_A_DAY = 3;

/** Deployments of the last weeks: on working days, now and then a failing one. */
export function addHistory(world: World, account: Account): void {
  for (const project of account.projects) {
    addCreation(world, account, project);
    for (let day = DAYS; day >= 0; day -= 1) addDay(world, account, project, day);
  }
}

function addCreation(world: World, account: Account, project: Project): void {
  recordEvent(world, account, {
    event: 'project_created',
    project: project.identifier,
    user: nameOf(account.users[0]),
    createdAt: world.clock.now() - (DAYS + 1) * DAY,
  });
}

function addDay(world: World, account: Account, project: Project, daysAgo: number): void {
  const now = world.clock.now();
  const midnight = now - (now % DAY) - daysAgo * DAY;
  const weekday = new Date(midnight).getUTCDay();
  const isWorkingDay = weekday !== 0 && weekday !== 6;
  const count = Math.floor(dice(project, daysAgo, 'count') * (MAX_A_DAY + 1) * (isWorkingDay ? 1 : 0.3));
  for (let n = 0; n < count; n += 1) {
    const endedAt = midnight + (8 * 60 + Math.floor(dice(project, daysAgo, `time ${n}`) * 600)) * MINUTE;
    if (endedAt < now) addOne(world, account, project, { daysAgo, n, endedAt });
  }
}

function addOne(
  world: World,
  account: Account,
  project: Project,
  { daysAgo, n, endedAt }: { daysAgo: number; n: number; endedAt: number },
): void {
  const causes = ['build', 'check', 'transfer'] as const;
  const cause = causes[Math.floor(dice(project, daysAgo, `cause ${n}`) * causes.length)] ?? 'build';
  const person = account.users[Math.floor(dice(project, daysAgo, `who ${n}`) * account.users.length)];
  recordDeployment(world, account, {
    project: project.identifier,
    succeeded: dice(project, daysAgo, `luck ${n}`) > FAILING_SHARE,
    endedAt,
    durationMs: 35_000 + Math.floor(dice(project, daysAgo, `length ${n}`) * 180_000),
    user: nameOf(person),
    failure: { cause },
  });
}

/** Chance that falls the same way after every start on the same day. */
function dice({ permalink }: Project, daysAgo: number, what: string): number {
  return stableFraction(`${permalink} ${daysAgo} ${what}`);
}

function nameOf(user: User | undefined): string {
  return user === undefined ? 'Somebody' : `${user.firstName} ${user.lastName}`;
}
