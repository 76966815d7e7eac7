import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type JobsTable, newJob, PortableJob, portableJob, portableSchedules } from './jobs-table.ts';
import { CREATE_TABLES, sqliteQuery } from './sqlite-jobs.ts';

const SET_ASIDE = 2;
const JOBS = `SELECT CAST(seq AS TEXT) AS id, queue, key, workspace, data, due, claims - handed_back AS attempts,
  failures, dead, traceparent, state FROM deckhand_jobs ORDER BY seq`;
const ADD_JOB = `INSERT INTO deckhand_jobs (queue, key, workspace, data, due, set_at, traceparent, state)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

const JobRow = PortableJob.omit({ isSetAside: true }).extend({ state: z.number() });

/** The jobs of an SQLite file; a store that never ran has none. */
export function sqliteJobsTable(db: DatabaseSync): JobsTable {
  db.exec(CREATE_TABLES);
  return {
    ...portableSchedules(sqliteQuery(db)),
    async *jobs() {
      for (const row of db.prepare(JOBS).iterate()) {
        const { state, ...job } = JobRow.parse(row);
        yield portableJob({ ...job, isSetAside: state === SET_ASIDE });
      }
    },
    async addJobs(jobs) {
      const add = db.prepare(ADD_JOB);
      const now = Date.now();
      for (const job of jobs) {
        const { key = null, workspace, data, delayMs, traceparent = null } = newJob(job, now);
        const state = job.isSetAside ? SET_ASIDE : 0;
        add.run(job.queue, key, workspace, data, now + delayMs, now, traceparent, state);
      }
    },
  };
}
