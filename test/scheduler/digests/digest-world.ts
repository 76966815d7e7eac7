import { sayThere } from '../../support/asking.ts';
import { callsToEnd } from '../../support/calls-under-way.ts';
import { openBrowser } from '../../support/installing.ts';
import { jobsToEnd } from '../../support/jobs-to-end.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT,
  CHANNEL,
  connectAccount,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorldOptions,
} from '../../support/test-world.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type DigestWorld = Awaited<ReturnType<typeof openDigestWorld>>;

/** Opens a world whose time stands still until it is moved, with Deckhand in the channel and an account connected. */
export async function openDigestWorld(
  start = '2026-03-02T08:00:00Z',
  { byOauth = false, slackApp = {}, ...more }: Pick<TestWorldOptions, 'byOauth' | 'slackApp' | 'env'> = {},
) {
  const time = createManualClock(start);
  // Each look at a run is a step of the clock.
  const env = { POLL_INTERVAL_MS: '1000', ...more.env };
  const world = await openTestWorld({ time, connected: !byOauth, byOauth, slackApp, env });
  if (byOauth) {
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    await connectAccount(world.slack);
  }
  world.slack.invite(TEAM, CHANNEL, 'bot');
  const { slack, stop } = world;
  const messages = () => slack.messages(TEAM, CHANNEL);
  const posted = () => messages().filter(({ text }) => text.includes('Deployment digest'));
  const digests = () => world.app.workspaces.open(TEAM).schedules.list('digest');

  /** Lets time pass in small steps until the check holds. */
  async function passUntil(check: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await check())) await time.advance(STEP_MS);
  }

  return Object.assign(world, {
    time,
    /** A run that goes on is handed back after a while. */
    async stop(): Promise<void> {
      let isStopped = false;
      const stopped = stop().finally(() => {
        isStopped = true;
      });
      while (!isStopped) await time.advance(STEP_MS);
      await stopped;
    },
    /** The digests that stand in the channel, oldest first. */
    posted,
    async untilPosted(amount: number): Promise<void> {
      await slack.until(() => posted().length >= amount, { what: `${amount} digests` });
    },
    /** What the admin types, and the answer. */
    say: async (line: string): Promise<string> => (await sayThere(world, line, CHANNEL)).text,
    /** Waits until the latest occurrence of the digest has ended. */
    async untilLast(outcome: string, id?: string): Promise<void> {
      const isThere = async () =>
        (await digests()).some((one) => one.last?.outcome === outcome && (id ?? one.id) === one.id);
      while (!(await isThere())) await callsToEnd();
    },
    /** Waits until no job waits or runs. */
    untilIdle: () => jobsToEnd(world),
    passUntil,
    /** Lets so many milliseconds pass, or fewer if the check holds before. */
    async pass(ms: number, check = (): boolean => false): Promise<void> {
      const end = time.now() + ms;
      await passUntil(() => check() || time.now() >= end);
    },
    /** The id of the only digest. */
    async id(): Promise<string> {
      const [only] = await digests();
      if (only === undefined) throw new Error('there is no digest');
      return only.id;
    },
    deploy(succeeded: boolean, hoursAgo = 1, project = 'storefront'): void {
      const endedAt = time.now() - hoursAgo * HOUR;
      world.service.world.addDeployment({ account: ACCOUNT, project, succeeded, endedAt, user: 'Kim' });
    },
  });
}

/** Small beside any time-out, so that answers on the wire are in time. */
const STEP_MS = 1_000;

export { ACCOUNT, CHANNEL, PEOPLE, TEAM };
