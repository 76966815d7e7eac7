import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { JobType } from '../../jobs/jobs.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import { cronOf, Digest, withScheduledAt } from '../../records/digests.ts';
import { ACTIVE, SCHEDULES_LOCK, type Schedule } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Chain, startChain } from '../schedules/chain.ts';
import { expectRoomForSchedule, type ScheduleKind } from '../schedules/lifecycle.ts';
import { isServed } from '../schedules/reconcile-schedules.ts';

/** The job of an occurrence. */
export const OccurrenceJob = z.preprocess(
  withScheduledAt,
  z.object({ digest: z.string(), scheduledAt: z.number() }),
);
export type OccurrenceJob = z.infer<typeof OccurrenceJob>;

export const DIGEST: JobType<OccurrenceJob> = { queue: 'digest', schema: OccurrenceJob };

export const DIGESTS: ScheduleKind<Digest> = {
  command: 'digest add',
  requester: SCHEDULES,
  list: async ({ digests }) => (await digests.list()).map(asSchedule),
  async setState({ digests, clock }, { id }, change) {
    const changed = await digests.change(id, (current) => {
      const state = change(current.state);
      const isResumed = current.state.kind === 'paused' && state.kind === 'active';
      return { ...current, state, ...(isResumed ? { activeSince: clock.now() } : {}) };
    });
    return changed && asSchedule(changed);
  },
  start: (workspace, { record }) => start(workspace, record),
  async prepareResume({ accounts, digests }, { id, account }) {
    if (!isServed({ account }, await accounts.list()))
      throw new UserError(
        `The digest ${code(id)} has no working account.`,
        `connect${account === undefined ? '' : ` ${account}`}`,
      );
    return async () => void (await digests.change(id, ({ snoozedUntil: _, ...awake }) => awake));
  },
  async remove({ digests }, { id }) {
    const removed = await digests.get(id);
    await digests.remove(id);
    return removed;
  },
  async restore({ digests }, removed) {
    const digest = Digest.parse(removed);
    const existing = await digests.get(digest.id);
    if (existing === undefined) await digests.put(digest);
    return asSchedule(existing ?? digest);
  },
};

export function asSchedule(digest: Digest): Schedule<Digest> {
  const { id, channel, setUpBy, account, state } = digest;
  const what = `the digest ${code(id)} in <#${channel}>`;
  const resume = `digest resume ${id}`;
  return { id, name: id, what, channel, setUpBy, account, state, resume, record: digest };
}

/** What a person decides of a digest. */
export type DigestChoices = Pick<Digest, 'cadence' | 'zone' | 'range' | 'account' | 'project' | 'skipQuiet'>;

/** Stores a new digest and starts its schedule; repeated for the same request it changes nothing. */
export async function addDigest(
  workspace: Workspace,
  asked: DigestChoices & Pick<Digest, 'requestId' | 'channel' | 'setUpBy'>,
): Promise<Schedule<Digest>> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const { digests, clock } = workspace;
    // By the request and not by the id, which is another one where the id that was taken then is free by now.
    const existing = (await digests.list()).find(({ requestId }) => requestId === asked.requestId);
    if (existing !== undefined) {
      if (existing.state.kind === 'active') await start(workspace, existing);
      return asSchedule(existing);
    }
    await expectRoomForSchedule(workspace, asked.channel);
    const id = await digests.freeId(asked.requestId);
    const digest: Digest = { ...asked, id, setUpAt: clock.now(), state: ACTIVE };
    await start(workspace, digest);
    await digests.put(digest);
    return asSchedule(digest);
  });
}

/** Undefined where it was removed. */
export async function editDigest(
  workspace: Workspace,
  id: string,
  choices: DigestChoices,
): Promise<Schedule<Digest> | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const existing = await workspace.digests.get(id);
    if (existing === undefined) return undefined;
    const { account, project } = choices;
    // What was chosen before and is not chosen any more goes too.
    const chosen = { ...choices, account, project, activeSince: workspace.clock.now() };
    if (existing.state.kind === 'active') await start(workspace, { ...existing, ...chosen });
    const changed = await workspace.digests.change(id, (current) => ({ ...current, ...chosen }));
    return changed && asSchedule(changed);
  });
}

/** From its latest occurrence on, or from when it began. One that is about to be resumed begins now. */
async function start(workspace: Workspace, digest: Digest): Promise<void> {
  const { state, last, setUpAt, activeSince = setUpAt } = digest;
  const since = state.kind === 'paused' ? workspace.clock.now() : activeSince;
  await startChain(workspace, chainOf(digest), Math.max(since, last?.scheduledAt ?? since));
}

export function chainOf({ id, cadence, zone }: Digest): Chain<OccurrenceJob> {
  return {
    id,
    cron: cronOf(cadence),
    zone,
    job: DIGEST,
    dataAt: (scheduledAt) => ({ digest: id, scheduledAt }),
  };
}
