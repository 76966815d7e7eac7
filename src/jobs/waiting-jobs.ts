import { whenFree } from '../core/when-free.ts';
import type { JobsBackend } from './jobs-backend.ts';

/** The jobs of an SQLite file: each method is one write, and waits while another process holds the file's lock. */
export function waitingJobs(backend: JobsBackend): JobsBackend {
  const { schedules } = backend;
  const { clockSetBack } = backend;
  return {
    ...backend,
    insert: (queue, jobs) => whenFree(() => backend.insert(queue, jobs)),
    claim: (queue, limit, busy) => whenFree(() => backend.claim(queue, limit, busy)),
    save: (job) => whenFree(() => backend.save(job)),
    release: (job, delayMs) => whenFree(() => backend.release(job, delayMs)),
    finish: (job) => whenFree(() => backend.finish(job)),
    setAside: (job) => whenFree(() => backend.setAside(job)),
    erase: (workspace) => whenFree(() => backend.erase(workspace)),
    count: () => whenFree(() => backend.count()),
    ping: () => whenFree(() => backend.ping()),
    ...(clockSetBack === undefined ? {} : { clockSetBack: () => whenFree(clockSetBack) }),
    schedules: {
      now: schedules.now,
      put: (schedule, during) => whenFree(() => schedules.put(schedule, during)),
      remove: (workspace, key) => whenFree(() => schedules.remove(workspace, key)),
      due: (now, limit) => whenFree(() => schedules.due(now, limit)),
      advance: (advances) => whenFree(() => schedules.advance(advances)),
      nextAt: () => whenFree(() => schedules.nextAt()),
    },
  };
}
