/** Test runs that go by the clock: when each of run `r<n>` has news, and how late Slack was told of it. */
export interface Runs {
  begin(start: number): void;
  /** The service's answer to a test that is started. */
  started(): unknown;
  /** What the service says of a run now. Spec 2.8. */
  seen(run: string): unknown;
  /** A call of Slack's Web API. */
  shown(method: string, form: URLSearchParams): void;
  told(): { ended: number; replies: number; lateMs: number[]; roots: Array<[project: number, at: number]> };
}

/** All run long enough to overlap; their ends are spread like those of real ones. */
const SHORTEST_MS = 15_000;
const SPREAD_MS = 20_000;

export function endAfterMs(run: number): number {
  return SHORTEST_MS + ((run * 7919) % SPREAD_MS);
}

export function createRuns(): Runs {
  let start = Number.POSITIVE_INFINITY;
  let replies = 0;
  let lastRun = 0;
  const lateMs = new Map<string, number>();
  const roots = new Map<number, number>();
  return {
    begin(at) {
      start = at;
      replies = 0;
      lateMs.clear();
      roots.clear();
    },
    started() {
      lastRun += 1;
      return { identifier: `r${lastRun}`, status: 'pending', results: null };
    },
    seen(run) {
      const passed = Date.now() - start;
      const end = endAfterMs(Number(run.slice(1)));
      const servers = [1, 2]
        .filter((server) => passed >= (end * (server + 1)) / 4)
        .map((server) => ({ name: `web-${server}`, identifier: `s${server}`, status: 'ok', message: null }));
      const repository = { status: 'ok', message: null };
      return {
        identifier: run,
        status: passed >= end ? 'completed' : 'running',
        created_at: new Date(start).toISOString(),
        completed_at: passed >= end ? new Date(start + end).toISOString() : null,
        results: passed >= end / 4 ? { repository, servers } : null,
      };
    },
    shown(method, form) {
      if (method === 'chat.postMessage' && form.has('thread_ts')) replies += 1;
      const [, project] = /Project (\d+)/.exec(form.get('text') ?? '') ?? [];
      if (method === 'chat.postMessage' && !form.has('thread_ts') && project !== undefined)
        roots.set(Number(project), Date.now());
      const ts = form.get('ts');
      if (method !== 'chat.update' || ts === null || lateMs.has(ts)) return;
      if (!form.get('text')?.includes('both servers are reachable')) return;
      lateMs.set(ts, Date.now() - start - endAfterMs(Number(ts.split('.')[0])));
    },
    told: () => ({ ended: lateMs.size, replies, lateMs: [...lateMs.values()], roots: [...roots] }),
  };
}
