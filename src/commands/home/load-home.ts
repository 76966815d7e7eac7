import type { Deckhand } from '../../deckhand.ts';
import { DIGESTS } from '../../scheduler/digests/schedule.ts';
import { INVOICE_NOTICES } from '../../scheduler/invoices/notices.ts';
import type { ScheduleKind } from '../../scheduler/schedules/reconcile-schedules.ts';
import { WATCHES } from '../../scheduler/watches/schedule.ts';
import {
  type HomeData,
  type HomeRun,
  type HomeSchedule,
  MOST_ENDED,
  MOST_RUNNING,
} from '../../views/home/home.ts';
import type { Role } from '../../workspace/roles.ts';
import type { Run } from '../../workspace/test-runs.ts';

const KINDS: ReadonlyArray<[kind: HomeSchedule['kind'], of: ScheduleKind]> = [
  ['digest', DIGESTS],
  ['watch', WATCHES],
  ['invoices', INVOICE_NOTICES],
];

/** What App Home shows to a person, from our own records alone. */
export async function loadHome(
  deckhand: Deckhand,
  workspace: string,
  user: string,
): Promise<Omit<HomeData, 'figures'>> {
  const [accounts, defaultAccount, runs, schedules, roles] = await Promise.all([
    deckhand.accounts.list(workspace),
    deckhand.accounts.defaultName(workspace),
    runsOf(deckhand, workspace),
    schedulesOf(deckhand, workspace),
    rolesOf(deckhand, workspace, user),
  ]);
  return {
    word: deckhand.config.SLACK_COMMAND,
    now: deckhand.clock.now(),
    canSignUp: deckhand.config.SERVICE_SIGNUP_URL !== undefined,
    accounts: accounts.map(({ name, state }) => ({ name, state })),
    defaultAccount,
    runs,
    schedules,
    roles,
  };
}

/** The latest first, those that go on before those that ended. */
async function runsOf(deckhand: Deckhand, workspace: string): Promise<HomeRun[]> {
  const all = (await deckhand.runs.list(workspace)).toSorted((one, other) => timeOf(other) - timeOf(one));
  const running = all.filter(({ status }) => status === 'running').slice(0, MOST_RUNNING);
  const ended = all.filter(({ status }) => status !== 'running').slice(0, MOST_ENDED);
  return Promise.all(
    [...running, ...ended].map(async (run) => {
      const { channel, rootTs: ts } = run;
      const isShown = channel !== undefined && ts !== undefined;
      const link = isShown ? await deckhand.home.permalink(workspace, { channel, ts }) : undefined;
      return { ...run, link };
    }),
  );
}

function timeOf({ endedAt, startedAt }: Run): number {
  return endedAt ?? startedAt;
}

async function schedulesOf(deckhand: Deckhand, workspace: string): Promise<HomeSchedule[]> {
  const each = KINDS.map(async ([kind, { list }]) =>
    (await list(deckhand, workspace)).map(({ id, what, state }) => ({
      kind,
      id,
      what,
      ...(state.kind === 'paused' ? { paused: state.reason } : {}),
    })),
  );
  return (await Promise.all(each)).flat();
}

async function rolesOf({ roles }: Deckhand, workspace: string, user: string): Promise<Role[]> {
  if (await roles.holds(workspace, user, 'admin')) return ['admin', 'operator', 'billing'];
  const held: Role[] = [];
  for (const role of ['operator', 'billing'] as const)
    if (await roles.holds(workspace, user, role)) held.push(role);
  return held;
}
