import { afterEach, beforeEach, expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { openReplicas, type Replicas } from './replicas.ts';
import { judge, postsOf, untilPosted } from './slot-posts.ts';

const MINUTE = 60_000;
const DIGESTS = byLength(12, 20);
/** Beside the first one. */
const OTHERS = byLength([1], [1, 2]);
/** Few, so that a replica has more to post in each after its first post. */
const CHANNELS = 2;
/** Far longer than it takes to set up the digests and to start all replicas, so that none is due before. */
const SET_UP_MS = 10 * MINUTE;
/** Longer than a dead replica's jobs are held for it. */
const LEASE_MS = 16_000;

let replicas: Replicas;
let slot: number;
beforeEach(async () => {
  slot = Math.ceil((Date.now() + SET_UP_MS) / MINUTE) * MINUTE;
  const due = new Date(slot);
  replicas = await openReplicas({
    url: await freshDatabase(),
    digests: DIGESTS,
    channels: CHANNELS,
    cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
    answerMs: 200,
    hasDeployments: byLength(false, true),
  });
});
afterEach(() => replicas.close());

/** A short form of `npm run chaos -- replicas`. */
it('posts each due slot once, though the replica that posts first is killed half-way', async () => {
  const { slack, ids } = replicas;
  await Promise.all(OTHERS.map((replica) => replicas.start(replica)));
  await replicas.shift(slot - Date.now());
  const expected = postsOf(ids, [slot]);

  await expect.poll(() => replicas.postedBy.length, { interval: 10 }).toBeGreaterThan(0);
  await replicas.kill(replicas.postedBy[0] ?? 0);
  const left = judge(slack, expected, []).lost.length;
  expect(left, 'killed half-way').toBeGreaterThan(0);

  // The others end what they have; what then is left was the dead one's.
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = before === replicas.postedBy.length;
        before = replicas.postedBy.length;
        return isStill;
      },
      { interval: 1_500, timeout: 60_000 },
    )
    .toBe(true);
  expect(judge(slack, expected, []).lost.length, 'nobody took it over yet').toBeGreaterThan(0);
  await replicas.shift(LEASE_MS);
  await untilPosted(slack, expected, 120_000);
  await replicas.stopAll();

  const { due, lost, doubled } = judge(slack, expected, replicas.uncertain);
  expect(due).toBe(DIGESTS);
  expect(lost).toEqual([]);
  expect(doubled.filter((name) => !replicas.uncertain.includes(name))).toEqual([]);
}, 300_000);
