import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { z } from 'zod';
import { parseJson } from '../core/json.ts';

/** What release 0.2.0 kept of a job that had begun, in a table of its own. */
const State = z.object({ data: z.string() });
const StateRows = z.array(z.object({ id: z.string(), state: z.string() }));
const MISSING = z.tuple([z.object({ missing: z.boolean() })]);
/** Set in the data of a job that had ended, and was there for its key alone. */
const ENDED = '"has-ended":true';

/**
 * Takes what release 0.2.0 kept beside pg-boss into pg-boss: what its jobs have become, while its schedules are made anew
 * from their own records. Repeated after an interruption it goes on, and does nothing once all is done.
 */
export async function bringUp(boss: PgBoss): Promise<void> {
  const sql = async (text: string): Promise<unknown[]> => (await boss.getDb().executeSql(text)).rows;
  const [{ missing }] = MISSING.parse(
    await sql("SELECT to_regclass('deckhand_job_states') IS NULL AS missing"),
  );
  if (missing) return;
  const rows = StateRows.parse(await sql('SELECT id, state FROM deckhand_job_states'));
  const states = new Map(rows.map(({ id, state }) => [id, State.safeParse(parseJson(state)).data?.data]));
  for (const { name } of await boss.getQueues())
    for (const job of await boss.findJobs<object>(name)) {
      const data = states.get(job.id);
      if (data !== undefined) await bringUpJob(boss, name, job, data);
    }
  await sql(
    'DROP TABLE IF EXISTS deckhand_schedules, deckhand_job_states; DROP FUNCTION IF EXISTS deckhand_now()',
  );
}

async function bringUpJob(
  boss: PgBoss,
  queue: string,
  job: JobWithMetadata<object>,
  data: string,
): Promise<void> {
  const { id } = job;
  if (data.includes(ENDED)) return void (await boss.deleteJob(queue, id));
  // Only what waits can be changed.
  if (job.state === 'active') await boss.fail(queue, id);
  await boss.update(queue, { ...job.data, data }, { id });
}
