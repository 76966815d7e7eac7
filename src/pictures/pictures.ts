import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';

/**
 * Draws in a process of its own. A picture takes some milliseconds, in which this one could neither
 * acknowledge a request nor record what Slack has just taken; and what drawing takes in memory, only the end of a
 * process gives back.
 */
export type Pictures = ReturnType<typeof createPictures>;

interface Waiting {
  resolve: (png: Uint8Array) => void;
  reject: (error: Error) => void;
}

type Answer = { id: number; png: Uint8Array } | { id: number; fault: string };

/** Beside this file, as a source or as a part of the bundle. */
const WORKER = new URL(`./picture-worker${extname(import.meta.url)}`, import.meta.url);

/** What holds a drawn picture is small for JavaScript and large outside, so its process has to collect often. */
const HEAP = ['--max-semi-space-size=2', '--max-old-space-size=96'];

/** The process takes some 100 MB, and a quarter of a second to start. */
const IDLE_MS = 60_000;

/** Starts its process with the first picture, and ends it when none was asked for in a while. */
export function createPictures(idleMs = IDLE_MS) {
  const waiting = new Map<number, Waiting>();
  let worker: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function start(): ChildProcess {
    const started = startWorker();
    started.on('message', resolveWaiting);
    started.on('error', (error) => endWith(started, String(error)));
    started.on('exit', (code, signal) => endWith(started, `${signal ?? code}`));
    return started;
  }

  function resolveWaiting(answer: Answer): void {
    const caller = waiting.get(answer.id);
    if (caller === undefined) return;
    waiting.delete(answer.id);
    if ('png' in answer) caller.resolve(answer.png);
    else caller.reject(new Error(`a picture could not be drawn: ${answer.fault}`));
    if (waiting.size === 0) idle = setTimeout(end, idleMs, 'idle').unref();
  }

  function endWith(ended: ChildProcess, reason: string): void {
    if (worker === ended) end(reason);
  }

  /** The next picture starts another process. */
  function end(reason: string): void {
    clearTimeout(idle);
    worker?.kill('SIGKILL');
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error(`the process of pictures ended: ${reason}`));
    waiting.clear();
  }

  return {
    /** A PNG of the deployments per day. Rejects where it cannot be drawn. */
    draw: (data: DeploymentsData): Promise<Uint8Array> =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        worker ??= start();
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.send({ id: lastId, data });
      }),
    close: () => end('closed'),
  };
}

/** It gets none of this process's environment, which has secrets, and writes nothing into its log. */
function startWorker(): ChildProcess {
  const cache = getCompileCacheDir();
  const started = fork(WORKER, [], {
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    execArgv: HEAP,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // A picture is no reason for this process to stay.
  started.unref();
  started.channel?.unref();
  return started;
}
