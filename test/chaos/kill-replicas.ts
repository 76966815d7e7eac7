import { parseArgs } from 'node:util';
import { systemClock } from '../../src/core/clock.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { openReplicas } from './replicas.ts';
import { type Print, sumUp } from './report.ts';
import { judge, postsOf, untilPosted } from './slot-posts.ts';

const MINUTE = 60_000;
const KILL_EVERY_MS = 10_000;
/** The first kill comes this long after the first slot. */
const FIRST_KILL_MS = 4_000;
const MAX_WAIT_MS = 120_000;

/**
 * `npm run chaos -- replicas`, by the real clock. Digests fall due each
 * minute, and take most of it to be posted; every ten seconds one of three replicas is killed, and started again. False
 * where it did not go well.
 */
export async function killReplicas(args: string[], print: Print): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '120' }, digests: { type: 'string', default: '600' } },
  });
  const lasts = Number(values.seconds) * 1_000;
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const replicas = await openReplicas({ url, digests: Number(values.digests), answerMs: 500 });
  try {
    await Promise.all([replicas.start(1), replicas.start(2)]);
    const { slack, ids, uncertain } = replicas;
    const first = Math.ceil(Date.now() / MINUTE) * MINUTE;
    const slots: number[] = [];
    for (let slot = first; slot < first + lasts; slot += MINUTE) slots.push(slot);
    let kills = 0;
    let amid = 0;
    for (let at = first + FIRST_KILL_MS; at < first + lasts; at += KILL_EVERY_MS) {
      await systemClock.sleep(at - Date.now());
      const replica = kills % 3;
      const due = slots.filter((slot) => slot <= Date.now());
      const open = judge(slack, postsOf(ids, due), []).lost.length;
      await replicas.kill(replica);
      kills += 1;
      if (open > 0) amid += 1;
      print(`kill ${kills}: replica ${replica + 1}, while ${open} due slots were open`);
      await replicas.start(replica);
    }
    const expected = postsOf(ids, slots);
    await untilPosted(slack, expected, MAX_WAIT_MS);
    await replicas.stopAll();
    const verdict = judge(slack, expected, uncertain);
    print(`${kills} kills, ${amid} of them amid due work, while ${verdict.due} slots fell due:`);
    return sumUp(verdict, uncertain, print);
  } finally {
    await replicas.close();
    await postgres.stop();
  }
}
