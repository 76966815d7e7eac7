import type { Fault } from '../../sandbox/service/faults.ts';
import { type Clock, systemClock } from '../../src/core/time/clock.ts';
import { ACCOUNT, API_KEY, EMAIL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

/** Pauses between repetitions pass ten times as fast; a person's patience, which is longer, does not. */
export const briskClock: Clock = paced((ms) => (ms < 1_500 ? ms / 10 : ms));

/** Looks at runs are pauses too: they come as often as in other worlds. */
export const BRISK = { clock: briskClock, env: { POLL_INTERVAL_MS: '400' } };

/** What happens only where something takes seconds does not happen on a slow machine either. */
export const patientClock: Clock = paced((ms) => (ms < 1_500 ? ms : ms * 60));

/** All waits are ten times shorter. Time-outs too: those that are not to strike are given longer. */
const hastyClock: Clock = paced((ms) => ms / 10);

/** A world whose waits are short, and whose service may take as long as a loaded machine does. */
export const HASTY = { clock: hastyClock, serviceTimeoutMs: 600_000, env: BRISK.env };

/** All time passes so much faster. One for each test, or it would leave Slack's own time far behind. */
export function fastClock(times: number): Clock {
  const begun = systemClock.now();
  return { ...paced((ms) => ms / times), now: () => begun + (systemClock.now() - begun) * times };
}

/** The system's clock, but what is waited for takes another time. */
function paced(pace: (ms: number) => number): Clock {
  return {
    now: () => systemClock.now(),
    sleep: (ms, signal) => systemClock.sleep(pace(ms), signal),
  };
}

/** A service and an account in which all is well, as before the first fault. */
export async function mend({ app, as, service, slack }: TestWorld): Promise<void> {
  service.faults.clear();
  slack.clearFaults();
  for (const view of as('admin').openViews().toReversed()) await as('admin').close(view.id);
  service.world.updateAccount({ account: ACCOUNT, apiAccess: true });
  service.world.resumeAccount({ account: ACCOUNT });
  const user = service.world.state.accounts.get(ACCOUNT)?.users[0] ?? {};
  Object.assign(user, { apiKey: API_KEY, verified: true, billing: false });
  await hold(app, 'ok');
  service.requests.clear();
}

/** The account as the workspace holds it, freshly sealed, so that nothing is remembered of it. */
export async function hold({ workspaces }: TestWorld['app'], state: 'ok' | 'unverified'): Promise<void> {
  const account = { name: ACCOUNT, email: EMAIL, apiKey: API_KEY, createdBy: PEOPLE.admin, state };
  await workspaces.open(TEAM).accounts.connect(account);
}

/** Every request below the account meets the fault. */
export function failing(
  fault: Omit<Parameters<TestWorld['service']['faults']['add']>[0], 'path'>,
  path = '**',
) {
  return ({ service }: TestWorld): void => {
    service.faults.add({ path: `/${ACCOUNT}/${path}`, ...fault } satisfies Partial<Fault>);
  };
}
